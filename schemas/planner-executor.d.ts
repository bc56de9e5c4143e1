// Made of the schemas beside it by `make snapshots`; the SHA-256 of what it was made of is
// 540c39dd715bd379e07f8334bedf27160ca744a0c0c26b6478886ed0c19854ab

export type Answer =
  | Decisions
  | Approval
  | Edit
  | Rejection
  | EditedPlan
  | {
      [k: string]: JsonValue;
    }[]
  | boolean
  | string;
export type JsonValue = unknown;

/**
 * What clients are sent and send, by the name of its schema.
 */
export interface Published {
  decision: Answer;
  plan: Plan;
  progress: RunProgress;
  request: ReviewInterrupt;
  review: ReviewContent;
  stream: StepEvent;
}
/**
 * One decision for each action request, in order.
 */
export interface Decisions {
  decisions: (Approval | Edit | Rejection)[];
  digest?: string | null;
}
/**
 * Lets what was shown happen; `ask_later` are steps of a plan whose calls are asked about when they are due.
 */
export interface Approval {
  type: "approve";
  digest?: string | null;
  standing?: StandingWish | StandingWishOfPlaybook | null;
  reason?: string | null;
  ask_later?: string[] | null;
}
/**
 * The wish that further calls be covered: `args` are constraints by argument, `until` is a time with its zone.
 */
export interface StandingWish {
  args?: {
    [k: string]: {
      [k: string]: JsonValue;
    };
  };
  at_most: number;
  until?: string;
}
/**
 * The wish that further runs of a playbook be covered, with `params` in its constraints; it needs an end.
 */
export interface StandingWishOfPlaybook {
  params?: {
    [k: string]: {
      [k: string]: JsonValue;
    };
  };
  at_most?: number;
  until?: string;
}
/**
 * Fills in or changes what was shown; `reason` says why, where the policy requires it of an approval.
 */
export interface Edit {
  type: "edit";
  digest?: string | null;
  reason?: string | null;
  edited_action: EditOfPlan | EditOfCall | EditOfQuestion | EditOfEffect | EditOfBudget;
}
/**
 * Has another plan run.
 */
export interface EditOfPlan {
  name: "run_plan";
  args: PlanToRun;
}
/**
 * Another plan, or its JSON text.
 */
export interface PlanToRun {
  plan:
    | {
        [k: string]: JsonValue;
      }
    | {
        [k: string]: JsonValue;
      }[]
    | string;
}
/**
 * Has a call made with other arguments.
 */
export interface EditOfCall {
  name: "run_step";
  args: CallToMake;
}
/**
 * All arguments to make the call with.
 */
export interface CallToMake {
  step?: string;
  tool?: string;
  args:
    | {
        [k: string]: JsonValue;
      }
    | string;
}
/**
 * Answers a question.
 */
export interface EditOfQuestion {
  name: "answer_question";
  args: AnswerToQuestion;
}
/**
 * An answer that is not blank, of the schema that `review` names.
 */
export interface AnswerToQuestion {
  step?: string;
  tool?: string;
  question?: string;
  answer: JsonValue;
}
/**
 * Settles an uncertain call.
 */
export interface EditOfEffect {
  name: "settle_effect";
  args: EffectAsFound;
}
/**
 * Whether the call happened, and what came of it; text is read as JSON where it is JSON.
 */
export interface EffectAsFound {
  step?: string;
  tool?: string;
  args?:
    | {
        [k: string]: JsonValue;
      }
    | string;
  happened: boolean | string;
  result?: JsonValue;
}
/**
 * Raises a limit.
 */
export interface EditOfBudget {
  name: "raise_budget";
  args: BudgetToHold;
}
/**
 * The limits that hold from now on; null takes a limit away.
 */
export interface BudgetToHold {
  budget:
    | {
        [k: string]: JsonValue;
      }
    | string;
  spent?:
    | {
        [k: string]: JsonValue;
      }
    | string;
}
/**
 * Asks for something else in words; ends the run if there are none, or `final` is true.
 */
export interface Rejection {
  type: "reject";
  digest?: string | null;
  message?: string | null;
  final?: boolean | null;
  comments?: StepComment[] | null;
}
/**
 * A comment on a step of the plan.
 */
export interface StepComment {
  step: string;
  text: string;
}
/**
 * The short form of an edit of a plan.
 */
export interface EditedPlan {
  steps: {
    [k: string]: JsonValue;
  }[];
  [k: string]: unknown;
}
/**
 * A DAG of steps, the answer that the run returns, and the values of its parameters.
 */
export interface Plan {
  params?: {
    [k: string]: Param;
  };
  steps?: Step[];
  answer?: JsonValue;
}
/**
 * The value of a parameter, and how far whoever gave it is trusted.
 */
export interface Param {
  value: JsonValue;
  label: "user" | "trusted" | "undeclared" | "untrusted";
}
/**
 * One piece of work and its success criteria.
 *
 * A step with `tool` is deterministic: one call with `args`, no model. With `ask` a person answers a question; with
 * `gate` the run waits for a person's consent; with `refine` a planner expands the step when it is ready; with
 * `gather` it combines earlier results. Any other step is done by the executor model, which may call `tools` and must
 * call `required_tools`. With `for_each` a tool or model step runs once per item of a list; `batch` gives a model so
 * many items in one request. Its model is told the constraints of the goal, or those of them in `constraints`.
 * `parent` is the step that it was expanded from, `replaces` the failed step of an earlier revision that it makes up
 * for. `literal` names the arguments in which nothing is a reference. A step whose condition `when` is false is
 * skipped, and so is what waits for it; with `run_if` a step starts although some of what it waits for was skipped,
 * see `graph.plan.when`. `checks` are evaluated by code, see
 * `graph.plan.checks`; `success_criteria` by a judge model, if one is configured. `timeout_s`, `attempts` and
 * `backoff_s` limit how long and how often it is tried, see `graph.plan.attempts`.
 */
export interface Step {
  id: string;
  objective: string;
  tool?: string | null;
  tools?: string[];
  args?: {
    [k: string]: JsonValue;
  };
  literal?: string[];
  success_criteria?: string | null;
  checks?: {
    schema?: {
      [k: string]: unknown;
    };
    condition?: string;
    matches?: string;
    range?: (number | null)[];
    non_empty?: true;
    file_exists?: string;
    cites?: number;
    called?: string;
    of?: string;
  }[];
  depends_on?: string[];
  when?: {
    of: unknown;
    condition: string;
  } | null;
  run_if?: "any" | null;
  constraints?: string[] | null;
  max_calls?: number | null;
  timeout_s?: number | null;
  attempts?: number | null;
  backoff_s?: number | null;
  required_tools?: string[];
  output?:
    | "json"
    | {
        [k: string]: JsonValue;
      }
    | null;
  executor?: string | null;
  for_each?: JsonValue;
  max_items?: number | null;
  max_failures?: number | null;
  batch?: number | null;
  ask?: string | null;
  gate?: string | null;
  refine?: boolean;
  gather?: JsonValue;
  parent?: string | null;
  replaces?: string | null;
}
/**
 * How far a run is; `person` are the steps that wait for a person, `line` says all in a sentence.
 *
 * Times are Unix seconds, and texts are from outside: escape them.
 */
export interface RunProgress {
  version: 1;
  run: string;
  goal: string;
  status:
    | "planning"
    | "running"
    | "waiting"
    | "paused"
    | "succeeded"
    | "partial"
    | "failed"
    | "rejected"
    | "budget_exhausted"
    | "cancelled"
    | "damaged";
  reason: string | null;
  revision: number;
  sequence: number;
  line: string | null;
  person: string[];
  steps: StepProgress[];
}
/**
 * How far a step is, and what it has cost in the whole run.
 */
export interface StepProgress {
  status: "succeeded" | "skipped" | "failed" | "pending" | "running" | "blocked" | "interrupted" | "uncertain";
  error: string | null;
  started_at: number | null;
  ended_at: number | null;
  preview: string | null;
  cost: Cost;
  step: string;
  objective: string;
}
/**
 * What a step has cost; `cost_usd` is null if a price is not known.
 */
export interface Cost {
  tool_calls: number;
  model_calls: number;
  tokens: number;
  cost_usd: number | null;
}
/**
 * The value of an interrupt: all that needs a person now, in the shape of LangChain's `HITLRequest`.
 *
 * Texts are as models, tools and people wrote them: escape them. `until` is in Unix seconds.
 */
export interface ReviewInterrupt {
  action_requests: (PlanRequest | CallRequest | QuestionRequest | EffectRequest | BudgetRequest)[];
  review_configs: ReviewConfig[];
  run: string;
  revision: number;
  digest: string;
  diff: PlanDifference;
  issues: PlanIssue[];
  estimate: WorkEstimate;
  error: string | null;
  review: ReviewContent;
  until?: number;
  asked_before?: number;
}
/**
 * Asks about a plan.
 */
export interface PlanRequest {
  name: "run_plan";
  args: PlanArgs;
  description: string;
}
/**
 * A plan, see `schemas/plan.json`; one that cannot run is as it was written.
 */
export interface PlanArgs {
  plan: {
    [k: string]: JsonValue;
  };
}
/**
 * Asks about a call or a gate; a call that a revision adds has a digest of its own.
 */
export interface CallRequest {
  name: "run_step";
  args: CallArgs;
  description: string;
  digest?: string;
}
/**
 * A call with its arguments; of a gate `tool` is "gate", and `args` is what it shows.
 */
export interface CallArgs {
  step: string;
  tool: string;
  args: {
    [k: string]: JsonValue;
  };
}
/**
 * Asks for an answer.
 */
export interface QuestionRequest {
  name: "answer_question";
  args: QuestionArgs;
  description: string;
}
/**
 * A question of a step, or of the call of a tool; `answer` is to be filled in.
 */
export interface QuestionArgs {
  step: string;
  tool?: string;
  question: string;
  answer: null;
}
/**
 * Asks whether a call happened.
 */
export interface EffectRequest {
  name: "settle_effect";
  args: EffectArgs;
  description: string;
}
/**
 * A call that may have happened; `happened`, and `result` if it did, are to be filled in.
 */
export interface EffectArgs {
  step: string;
  tool: string;
  args: {
    [k: string]: JsonValue;
  };
  happened: null;
  result: null;
}
/**
 * Asks whether a limit is raised.
 */
export interface BudgetRequest {
  name: "raise_budget";
  args: BudgetArgs;
  description: string;
}
/**
 * The limits of the run, and what was used.
 */
export interface BudgetArgs {
  budget: {
    [k: string]: JsonValue;
  };
  spent: {
    [k: string]: JsonValue;
  };
}
/**
 * The decisions that the action request in the same place takes.
 */
export interface ReviewConfig {
  action_name: "run_plan" | "run_step" | "answer_question" | "settle_effect" | "raise_budget";
  allowed_decisions: ("approve" | "edit" | "reject")[];
}
/**
 * Ids of steps that differ from the plan that was shown before; empty if there is no plan.
 */
export interface PlanDifference {
  added?: string[];
  changed?: string[];
  removed?: string[];
  answer?: boolean;
}
/**
 * A fault of a plan; `step` is null for the plan itself.
 */
export interface PlanIssue {
  step: string | null;
  field: string;
  message: string;
}
/**
 * What is left to do at most; empty if there is no plan.
 */
export interface WorkEstimate {
  steps?: number;
  tool_calls?: number;
  model_steps?: number;
  longest_chain?: number;
  further_attempts?: number;
  to_refine?: number;
  budget_left?: {
    [k: string]: number;
  };
  takes?: Expectation;
}
/**
 * What the rest of the plan may take; `unknown` are tools and steps without history.
 */
export interface Expectation {
  seconds: Range;
  tokens?: Range;
  cost_usd?: Range;
  unknown?: string[];
}
/**
 * At least `low`; at most `high`, if that is known.
 */
export interface Range {
  low: number;
  high?: number;
}
/**
 * The content of a review request; an approval has to carry a reason for the tools `reason_for`.
 */
export interface ReviewContent {
  version: 1;
  goal: string;
  actions: (PlanContent | CallContent | GateContent | QuestionContent | UncertainContent | BudgetContent)[];
  people?: PeopleContent | null;
  reason_for?: string[];
}
/**
 * A plan; one that `cannot_run` has `faults`, and no steps here.
 *
 * `tools` are those that steps left may call. `since` is the number of the revision that `changes` begin with;
 * `was_seen`: a person saw it. `work` is what is left to do and may be taken, as `estimate` of the request.
 * `unpreviewed` are calls whose tools have previews, but of which there is none.
 */
export interface PlanContent {
  name: "run_plan";
  decisions?: string[];
  revision: number;
  digest: string;
  why?: Why | null;
  tools?: Tool[];
  params?: {
    [k: string]: ParameterContent;
  };
  steps?: StepContent[];
  since?: number | null;
  was_seen?: boolean;
  changes?: Change[];
  comments?: CommentContent[];
  notes?: string[];
  work?: {
    [k: string]: JsonValue;
  };
  previews?: PreviewContent[];
  unpreviewed?: string[];
  cannot_run?: boolean;
  faults?: string[];
}
/**
 * Why the plan is asked about: who wrote it and what for, the failures before it, the rule that has it shown.
 */
export interface Why {
  author: string;
  cause?: string;
  reason?: string;
  failed?: {
    [k: string]: string;
  };
  stalled?: string | null;
  rule?: ("always" | "policy" | "effects") | null;
  tools?: string[];
}
/**
 * A tool; `reversible` and `trust`, that of its results, are left out if the tool does not declare them.
 *
 * `folder` is where it writes. `steps` are those left that may call it, if it has an effect.
 */
export interface Tool {
  name: string;
  effect: "read" | "write" | "external";
  declared?: boolean;
  trust?: "trusted" | "undeclared" | "untrusted";
  reversible?: boolean | null;
  folder?: string | null;
  steps?: string[];
}
/**
 * A parameter of the plan: its value, and how far whoever gave it is trusted.
 */
export interface ParameterContent {
  value: Whole | Preview;
  trust: "user" | "trusted" | "undeclared" | "untrusted";
}
/**
 * A value.
 */
export interface Whole {
  value: JsonValue;
}
/**
 * A value of more than 4 KB: its length in bytes of JSON, its SHA-256, and how it begins and ends.
 */
export interface Preview {
  length: number;
  digest: string;
  preview: string;
  end?: string;
}
/**
 * A step of the plan: what it does in the words of its tool, where its arguments come from, and who judges it.
 *
 * `acts`: it may have an effect. `most_items`: it is done for each item of a list. `left_out` has the constraints of
 * the goal that its model is not told, `checks` what code looks at. `unchecked` are tools that do not declare how far
 * their results are to be trusted, and that its effects get results of under the approval of the plan alone.
 *
 * `asks`: why the policy asks about its calls, by tool. `settled`: approving the plan approves them too, by people who
 * also meet the rules `settled_by`, unless `ask_later` names the step; `settles` has those of items, with their
 * arguments. `asked_later`: why they are asked about when they are due.
 *
 * `when` is its condition, and `decided_by` the tools without trusted results that decide, by it or by the condition
 * of a step before, whether the step runs.
 */
export interface StepContent {
  id: string;
  status: "pending" | "succeeded" | "skipped";
  done_by: "tool" | "model" | "person" | "planner" | "nobody";
  acts?: boolean;
  does?: {
    [k: string]: string;
  };
  args?: {
    [k: string]: {
      [k: string]: Argument;
    };
  };
  most_items?: number | null;
  when?: string | null;
  decided_by?: string[];
  checks?: string[];
  judged_by?: ("code" | "model" | "nobody") | null;
  left_out?: string[];
  unchecked?: string[];
  asks?: {
    [k: string]: string;
  };
  settled?: boolean;
  settles?: {
    [k: string]: {
      [k: string]: JsonValue;
    };
  };
  settled_by?: {
    [k: string]: JsonValue;
  }[];
  asked_later?: ("unknown" | "untrusted" | "new" | "uncertain" | "long") | null;
}
/**
 * Where an argument comes from: the plan's text, results of `steps`, an item of a list, or the model.
 *
 * `params` are the parameters of the plan in it. `trust` is that of the value at worst, `sources` the tools that
 * lowered it. `asked`: the call is shown again, with the value, before it is made.
 */
export interface Argument {
  origin: "plan" | "result" | "item" | "model";
  steps?: string[];
  params?: string[];
  trust: "user" | "trusted" | "undeclared" | "untrusted";
  sources?: string[];
  asked?: boolean;
}
/**
 * What became of a step since the plan `since`; `answer` in the place of an id stands for the plan's answer.
 */
export interface Change {
  step: string;
  change: "added" | "changed" | "removed";
  fields?: FieldChange[];
}
/**
 * A field, or an argument as `args.to`, that differs; what was not given is left out.
 */
export interface FieldChange {
  field: string;
  was?: Whole | Preview | null;
  now?: Whole | Preview | null;
}
/**
 * A comment on a step of the plan before, what became of that step, and what the planner says of it.
 */
export interface CommentContent {
  step: string;
  text: string;
  became: "changed" | "unchanged" | "gone";
  says?: string | null;
}
/**
 * What a tool says that a call would do, which is not sure; `place` is the step, with the index of the item.
 *
 * `text` is its beginning if it has a `length`. `was` is what people saw of the same call before. `none`: why there is
 * no preview.
 */
export interface PreviewContent {
  place: string;
  tool: string;
  text?: string | null;
  length?: number | null;
  was?: string | null;
  none?: string | null;
}
/**
 * A call that is decided by itself. `new`: no approved plan had it. `before` names runs in which it happened.
 *
 * `by_model`: a model makes it, for the `objective`, so often `most_calls`; `most_items`: for each item of a list.
 */
export interface CallContent {
  name: "run_step";
  kind: "call";
  decisions?: string[];
  step: string;
  digest?: string | null;
  tool?: Tool | null;
  does?: string | null;
  new?: boolean;
  why?: string | null;
  args?: {
    [k: string]: Argument;
  };
  given?: Given[];
  before?: string[];
  preview?: PreviewContent | null;
  by_model?: boolean;
  objective?: string | null;
  most_calls?: number | null;
  most_items?: number | null;
  criteria?: string | null;
  checks?: string[];
  judged_by?: ("code" | "model" | "nobody") | null;
}
/**
 * A value that people gave and the call rests on.
 */
export interface Given {
  what: string;
  by: string[];
  step?: string | null;
  value?: string | null;
}
/**
 * A gate: what it says, which steps wait for it, and the calls with effects behind it.
 */
export interface GateContent {
  name: "run_step";
  kind: "gate";
  decisions?: string[];
  step: string;
  words?: string;
  steps?: string[];
  through?: Through[];
}
/**
 * A call behind a gate: `items` is how often it is made, if that is known by now.
 */
export interface Through {
  step: string;
  tool: Tool;
  does?: string | null;
  args?: {
    [k: string]: Whole | Preview;
  };
  items?: number | null;
}
/**
 * A question of a step or of a tool: the `results` that it rests on, and the JSON Schema of the `answer`.
 */
export interface QuestionContent {
  name: "answer_question";
  decisions?: string[];
  step: string;
  tool?: string | null;
  steps?: string[];
  results?: {
    [k: string]: Whole | Preview;
  };
  answer?: JsonValue;
}
/**
 * A call that may have happened; `failure` is what is known of it. `due_in` are steps that would make it again.
 *
 * `took_effect`: its result missed the checks. `may_live`: its process may yet make it. `run` is another run's id.
 */
export interface UncertainContent {
  name: "settle_effect";
  decisions?: string[];
  step: string;
  tool?: Tool | null;
  does?: string | null;
  failure: string;
  took_effect?: boolean;
  may_live?: boolean;
  run?: string | null;
  due_in?: string[];
}
/**
 * A limit that is reached; `hard` has the policy's limits, which nobody raises.
 */
export interface BudgetContent {
  name: "raise_budget";
  decisions?: string[];
  limit: string;
  left?: string[];
  hard?: {
    [k: string]: JsonValue;
  };
}
/**
 * Who decides, by the policy's `rules`, each of which holds, until when (Unix seconds), and who has by now.
 *
 * `takes_two`: it is not verified who asked. `nobody_left`: these asked for it, and nobody else may approve it.
 */
export interface PeopleContent {
  rules?: {
    [k: string]: JsonValue;
  }[];
  asked_by?: string[];
  approved_by?: string[];
  takes_two?: boolean;
  nobody_left?: string[];
  reach?: Reach | null;
  until?: number | null;
  on_expire?: ("reject" | "end") | null;
  escalations?: Escalation[];
}
/**
 * Calls of `tools` rest on what is decided; whoever meets the `rules` on people decides about them too.
 */
export interface Reach {
  tools: string[];
  rules: {
    [k: string]: JsonValue;
  }[];
}
/**
 * From when on (Unix seconds) these people may decide too.
 */
export interface Escalation {
  at: number;
  names?: string[];
  roles?: string[];
}
/**
 * An event of the `custom` stream; times are Unix seconds, and texts are from outside: escape them.
 */
export interface StepEvent {
  status: "succeeded" | "skipped" | "failed" | "pending" | "running" | "blocked" | "interrupted" | "uncertain";
  error: string | null;
  started_at: number | null;
  ended_at: number | null;
  preview: string | null;
  cost: Cost;
  version: 1;
  kind: "step" | "item" | "progress" | "person";
  run: string;
  revision: number;
  sequence: number;
  step: string;
  item: number | null;
  attempt: number;
  progress: ToolProgress | null;
}
/**
 * How far a call is, as its tool reports it: `text` is all of it in words.
 */
export interface ToolProgress {
  tool: string;
  done: number;
  total: number | null;
  message: string | null;
  text: string;
}
