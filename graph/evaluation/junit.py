"""Results of cases as JUnit XML, which servers for continuous integration show."""

from collections.abc import Iterable, Sequence
from xml.etree.ElementTree import Element, SubElement, tostring

from planner_executor.graph.evaluation.case_run import CaseResult
from planner_executor.graph.evaluation.trial import Trial
from planner_executor.graph.plain_text.sanitize import visible


def trial_results(trials: Iterable[Trial]) -> list[CaseResult]:
    """Return the trials of an evaluation that count, as cases of their arm."""
    return [
        CaseResult(one.slot.arm, f"{one.slot.case} {one.slot.repetition}", one.faults, one.spent.seconds)
        for one in trials
        if one.void is None
    ]


def junit_xml(results: Sequence[CaseResult]) -> str:
    """Return a document with a suite for each playbook and a test for each case."""
    document = Element("testsuites")
    for playbook in dict.fromkeys(result.playbook for result in results):
        own = [result for result in results if result.playbook == playbook]
        failures, seconds = sum(bool(one.faults) for one in own), sum(one.seconds for one in own)
        counts = {"tests": str(len(own)), "failures": str(failures), "time": f"{seconds:.3f}"}
        suite = SubElement(document, "testsuite", {"name": playbook, **counts})
        for one in own:
            # XML cannot hold control characters, which tools and models may have written.
            test = SubElement(
                suite, "testcase", {"classname": playbook, "name": visible(one.case), "time": f"{one.seconds:.3f}"}
            )
            if one.faults:
                faults = [visible(fault) for fault in one.faults]
                SubElement(test, "failure", {"message": faults[0]}).text = "\n".join(faults)
    return tostring(document, "unicode", xml_declaration=True) + "\n"
