/**
 * Starts a run on a LangGraph server, shows what is asked as the request's `review` says it, and approves.
 *
 *     node dist/client.js [--yes] "Research offshore wind and write a brief report"
 *
 * LANGGRAPH_URL is the server (http://127.0.0.1:2024 if unset), PLANNER_EXECUTOR_TOKEN its token if it has one.
 * With --yes nobody is asked in the terminal. The status is 0 if the run succeeded, 2 if it waits for another client.
 */

import { once } from "node:events";
import { createInterface } from "node:readline/promises";

import type {
  Argument,
  Decisions,
  ReviewContent,
  ReviewInterrupt,
  RunProgress,
  StepEvent,
  Tool,
} from "../../schemas/planner-executor.d.ts";

type Action = ReviewContent["actions"][number];

interface ThreadState {
  interrupts: { value: ReviewInterrupt }[];
}

const SERVER = process.env["LANGGRAPH_URL"] ?? "http://127.0.0.1:2024";
const TOKEN = process.env["PLANNER_EXECUTOR_TOKEN"];
const GRAPH = "planner_executor";

async function main(words: string[]): Promise<number> {
  const goal = words.filter((word) => word !== "--yes").join(" ");
  const { thread_id: thread } = await call<{ thread_id: string }>("/threads", {});
  await work(thread, { input: { goal } });
  for (;;) {
    const state = await call<ThreadState>(`/threads/${thread}/state`);
    const request = state.interrupts[0]?.value;
    if (request === undefined) return end(thread);
    say(...asked(request));
    const answer = approval(request);
    if (answer === undefined) say("This takes more than a yes.");
    if (answer === undefined || !(words.includes("--yes") || (await agreed()))) {
      say(`Nothing is decided: ${request.run} waits for an answer of another client.`);
      return 2;
    }
    await work(thread, { command: { resume: answer } });
  }
}

/** An approval of each action that names this request, so that it is no answer to another one. */
function approval(request: ReviewInterrupt): Decisions | undefined {
  if (!request.review_configs.every((config) => config.allowed_decisions.includes("approve"))) return undefined;
  return { decisions: request.action_requests.map(() => ({ type: "approve" })), digest: request.digest };
}

/** What is asked, in lines; all of it from data, and nothing from a description. */
function asked({ review, error }: ReviewInterrupt): string[] {
  const { people } = review;
  return [
    ...(error === null ? [] : [`Asked again: ${error}`]),
    `Goal: ${review.goal}`,
    ...review.actions.flatMap(shown),
    ...(people?.until == null ? [] : [`Until ${new Date(1000 * people.until).toISOString()}`]),
  ];
}

function shown(action: Action): string[] {
  switch (action.name) {
    case "run_plan":
      return [
        `Run revision ${action.revision} of the plan?`,
        ...(action.why?.reason ? [`  because: ${action.why.reason}`] : []),
        ...(action.tools ?? []).filter((tool) => tool.effect !== "read").map((tool) => `  effect: ${named(tool)} in ${tool.steps?.join(", ")}`),
        ...(action.changes ?? []).map((change) => `  ${change.change}: ${change.step}`),
        ...(action.steps ?? []).flatMap((step) => [
          `  ${step.id}: ${Object.values(step.does ?? {}).join("; ") || `done by ${step.done_by}`}`,
          ...Object.values(step.args ?? {}).flatMap(origins),
        ]),
      ];
    case "run_step":
      return action.kind === "gate"
        ? [
            `Pass the gate ${action.step}?`,
            ...(action.through ?? []).map((one) => `  lets through ${one.step}: ${one.does ?? named(one.tool)}`),
          ]
        : [`Make the call of ${action.step}, ${action.does ?? action.tool?.name}?`, ...origins(action.args ?? {})];
    case "answer_question":
      return [`${action.step} has a question.`];
    case "settle_effect":
      return [`Did the call of ${action.step} happen? ${action.failure}`];
    case "raise_budget":
      return [`The limit ${action.limit} is reached.`];
  }
}

function named(tool: Tool): string {
  const known = tool.reversible ? "can be undone" : "cannot be undone";
  return `${tool.name} (${tool.effect}, ${tool.reversible == null ? "not known to be reversible" : known})`;
}

/** The arguments that the plan does not hold itself. */
function origins(args: { [name: string]: Argument }): string[] {
  const from = Object.entries(args).filter(([, argument]) => argument.origin !== "plan");
  return from.map(([name, { steps, trust }]) => `    ${name} from ${steps?.join(", ") || "the model"} (${trust})`);
}

/** Work on the thread to the next pause or the end, and tell each change of a step. */
async function work(thread: string, what: { input: { goal: string } } | { command: { resume: Decisions } }) {
  const body = { assistant_id: GRAPH, stream_mode: ["custom"], ...what };
  for await (const { event, data } of events(await sent(`/threads/${thread}/runs/stream`, body))) {
    if (event === "error") throw new Error(data);
    if (event !== "custom") continue;
    const told = JSON.parse(data) as StepEvent;
    say(`${told.step} ${told.status}${told.error === null ? "" : `: ${told.error}`}`);
  }
}

async function end(thread: string): Promise<number> {
  const run = await call<RunProgress>(`/threads/${thread}/progress`);
  say(`${run.run}: ${run.status}${run.reason ? `, ${run.reason}` : ""}`);
  return run.status === "succeeded" ? 0 : 1;
}

async function agreed(): Promise<boolean> {
  const terminal = createInterface({ input: process.stdin, output: process.stdout });
  const ended = once(terminal, "close").then(() => ""); // the input may end without an answer
  const answer = await Promise.race([terminal.question("Approve? [y/N] "), ended]);
  terminal.close();
  return ["y", "yes"].includes(answer.trim().toLowerCase());
}

async function call<Type>(path: string, body?: object): Promise<Type> {
  return (await (await sent(path, body)).json()) as Type;
}

async function sent(path: string, body?: object): Promise<Response> {
  const headers = { "Content-Type": "application/json", ...(TOKEN ? { Authorization: `Bearer ${TOKEN}` } : {}) };
  const post = body === undefined ? {} : { method: "POST", body: JSON.stringify(body) };
  const response = await fetch(`${SERVER}${path}`, { headers, ...post });
  if (!response.ok) throw new Error(`${path}: ${response.status} ${await response.text()}`);
  return response;
}

/** The server-sent events of a response. */
async function* events(response: Response): AsyncGenerator<{ event: string; data: string }> {
  let rest = "";
  for await (const text of response.body!.pipeThrough(new TextDecoderStream())) {
    const blocks = (rest + text).split(/\r?\n\r?\n/);
    rest = blocks.pop() ?? "";
    for (const block of blocks) {
      const fields = new Map(block.split(/\r?\n/).map((line) => [line.split(":", 1)[0], line.replace(/^\w*: ?/, "")]));
      yield { event: fields.get("event") ?? "", data: fields.get("data") ?? "" };
    }
  }
}

/** Print lines; what models, tools and people wrote could hold anything, so what steers a terminal is made visible. */
function say(...lines: string[]): void {
  const odd = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu;
  for (const line of lines) console.log(line.replace(odd, (one) => `\\u{${one.codePointAt(0)!.toString(16)}}`));
}

process.exitCode = await main(process.argv.slice(2));
