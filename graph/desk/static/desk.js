// The review desk's own behaviour: times in the reader's zone, keys, and what the stream of changes tells.
"use strict";
(() => {
  const find = (selector, within = document) => within.querySelector(selector);
  const all = (selector, within = document) => [...within.querySelectorAll(selector)];
  const MARKS = {pending: "○", running: "►", succeeded: "✓", failed: "✗", blocked: "⊘", skipped: "»", interrupted: "‖", uncertain: "?", planning: "…", waiting: "!", paused: "‖", partial: "◐", rejected: "✗", budget_exhausted: "✗", cancelled: "»", damaged: "✗"};
  const FEED = 60;

  // The token of the session's forms. The login puts it behind the # of an address; where other servers of this machine
  // get the session's cookie too, the pages do not hold it, and it is kept for this desk alone.
  const given = /^#form=([\w-]+)$/.exec(location.hash);
  if (given) { localStorage.setItem("form", given[1]); history.replaceState(history.state, "", location.pathname + location.search); }
  const fillIn = () => { for (const field of all('input[name="token"]')) if (!field.value) field.value = localStorage.getItem("form") || ""; };

  // Times
  const CLOCK = new Intl.DateTimeFormat(undefined, {hour: "2-digit", minute: "2-digit", second: "2-digit"});
  const DAY = new Intl.DateTimeFormat(undefined, {dateStyle: "medium", timeStyle: "short"});
  const WHOLE = new Intl.DateTimeFormat(undefined, {dateStyle: "full", timeStyle: "long"});
  const times = (within = document) => {
    const today = new Date().toDateString();
    for (const element of all("time[datetime]:not([data-local])", within)) {
      const at = new Date(element.dateTime);
      if (isNaN(at)) continue;
      element.textContent = (at.toDateString() === today ? CLOCK : DAY).format(at);
      element.title = WHOLE.format(at);
      element.dataset.local = "";
    }
  };

  // What is told to screen readers
  const say = (words) => { const place = find("#announce"); if (place) place.textContent = words; };

  // The stream
  const connection = (state, words) => {
    const place = find("#connection");
    if (place) { place.dataset.state = state; place.textContent = words; }
  };
  const setStatus = (element, status) => {
    element.dataset.status = status;
    element.replaceChildren(Object.assign(document.createElement("span"), {ariaHidden: "true", textContent: MARKS[status] || "○"}), ` ${status.replaceAll("_", " ")}`);
  };
  let places = null;  // step -> its elements; looked up once, until a part of the page is replaced
  const placesOf = (name) => {
    if (!places) {
      places = new Map();
      for (const element of all("[data-step]")) places.set(element.dataset.step, [...(places.get(element.dataset.step) || []), element]);
    }
    return places.get(name) || [];
  };
  document.addEventListener("htmx:after:swap", () => { places = null; });
  const isNode = (element) => element.classList.contains("node");
  const setNode = (element, status) => {
    element.dataset.status = status;
    const mark = find(".mark", element);
    if (mark) mark.textContent = MARKS[status] || "";
  };
  const setRow = (element, status) => {
    const badge = find(".status", element);
    if (badge) setStatus(badge, status);
  };
  // A drawing and a list of 1,000 steps are painted in two frames, so that neither of them takes long.
  const nextFrame = (work) => requestAnimationFrame(() => setTimeout(work, 0));
  const setSteps = (steps) => {
    const changed = Object.entries(steps);
    for (const [name, status] of changed) placesOf(name).filter(isNode).forEach((one) => setNode(one, status));
    nextFrame(() => { for (const [name, status] of changed) placesOf(name).filter((one) => !isNode(one)).forEach((one) => setRow(one, status)); });
  };
  const feed = (events, leftOut) => {
    const list = find("#feed");
    if (!list) return;
    if (leftOut) list.prepend(Object.assign(document.createElement("li"), {textContent: `${leftOut} more events: see the audit`}));
    const last = Number(find("[data-seq]", list)?.dataset.seq || 0);
    for (const [seq, at, words] of events.slice(-FEED)) {
      if (seq <= last) continue;
      const item = document.createElement("li"), time = document.createElement("time"), text = document.createElement("span");
      item.dataset.seq = seq;
      time.dateTime = new Date(at * 1000).toISOString();
      text.dir = "auto";
      text.textContent = words;
      item.append(Object.assign(document.createElement("span"), {className: "seq", textContent: seq}), " ", time, " ", text);
      list.prepend(item);
    }
    while (list.children.length > FEED) list.lastElementChild.remove();
    times(list);
  };
  const onRun = (live, message) => {
    setSteps(message.steps);
    feed(message.events, message.left_out);
    const was = live.dataset.status, head = find("#run-status .status");
    if (was !== message.status) {
      live.dataset.status = message.status;
      if (head) setStatus(head, message.status);
      say(`The run is ${message.status.replaceAll("_", " ")}`);
    }
    const revised = live.dataset.revision !== String(message.revision);
    live.dataset.revision = message.revision;
    const form = find("#review");
    if (form) {
      const decided = message.events.some(([seq]) => seq > Number(find("[name=seen]", form).value));
      if (decided) find("#moved").hidden = false;
      return;
    }
    if (message.events.length) htmx.trigger(live, "desk:changed");
    if (revised) htmx.trigger(live, "desk:revised");
    if (was !== message.status || revised) refreshHead();
  };
  let headTimer = 0;
  const refreshHead = () => {
    clearTimeout(headTimer);
    headTimer = setTimeout(async () => {
      const answer = await fetch(location.href, {headers: {"HX-Request": "true"}});
      if (!answer.ok) return;
      const page = new DOMParser().parseFromString(await answer.text(), "text/html");
      for (const selector of ["#run-head", ".tabs"]) {
        const now = find(selector), then = find(selector, page);
        if (now && then) keepFocus(() => now.replaceWith(document.importNode(then, true)));
      }
      times();
    }, 400);
  };
  document.addEventListener("desk:run", (event) => {
    connection("live", "live");
    onRun(event.target, JSON.parse(event.detail.data));
  });
  document.addEventListener("htmx:sse:after:connection", (event) => {
    connection("live", "live");
    htmx.trigger(event.target, "desk:list");  // a stream of lists does not tell what changed before it
  });
  document.addEventListener("htmx:sse:error", () => lost());

  // Why there is no connection: the session has ended, or the server is not there. The page goes on when it is back.
  let asking = false;
  const lost = async () => {
    if (asking) return;
    asking = true;
    connection("lost", "connection lost");
    try {
      const answer = await fetch(location.href, {headers: {"HX-Request": "true"}, redirect: "manual"});
      if (answer.status === 401) {
        connection("lost", "your session has ended: ");
        const link = Object.assign(document.createElement("a"), {href: location.href, textContent: "sign in again"});
        find("#connection").append(link, "; what you wrote is kept");
      } else connection("lost", answer.ok ? "connecting again" : "the server cannot show this now; it is asked again");
    } catch {
      connection("lost", "the server does not answer; it is asked again, and what you wrote is kept");
    }
    asking = false;
  };
  document.addEventListener("htmx:sse:close", () => connection("off", ""));

  // A part of the page that cannot be refreshed stays as it is, and is asked for again; a stream that does not open, too.
  const REFRESHED = "#live, #list, #panel", AGAIN_MS = 5000;
  const askAgain = (event) => {
    const {ctx} = event.detail, part = ctx?.sourceElement;
    if (!part?.matches(REFRESHED)) return;
    ctx.swap = "none";
    connection("lost", "not up to date");
    const [asks] = part.getAttribute("hx-trigger").split(" ");
    setTimeout(() => { const live = find("#live"); if (live) htmx.trigger(live, asks); }, AGAIN_MS);
  };
  document.addEventListener("htmx:response:error", askAgain);
  document.addEventListener("htmx:error", askAgain);
  document.addEventListener("htmx:after:swap", (event) => { if (event.detail.ctx?.sourceElement?.matches(REFRESHED) && event.detail.ctx.swap !== "none") connection("live", "live"); });

  // A tab that nobody sees opens no stream; htmx closes that of a tab that is hidden later.
  const open = () => { if (!document.hidden) for (const live of all("#live")) if (!live.dataset.open) { live.dataset.open = ""; htmx.trigger(live, "desk:visible"); } };
  document.addEventListener("visibilitychange", () => { if (document.hidden) connection("off", "paused"); else open(); });

  // A part of the page that is refreshed keeps the focus: on the same link or field, wherever that is now. If it is
  // gone, `j` and `k` go on from its row.
  let held = null, place = -1;
  const same = (element) => [element.tagName, element.id || element.getAttribute("href") || element.getAttribute("aria-label") || `${element.name} ${element.value}`].join(" ");
  const hold = () => {
    const element = document.activeElement;
    held = element === document.body ? null : {name: same(element), tag: element.tagName};
    if (held) place = rows().findIndex((row) => row.contains(element));
  };
  const giveBack = () => {
    if (!held || same(document.activeElement) === held.name) return;
    const again = all(held.tag).find((element) => same(element) === held.name);
    if (again) again.focus({preventScroll: true}); else document.activeElement.blur();
  };
  const keepFocus = (change) => { hold(); change(); giveBack(); };
  document.addEventListener("htmx:before:swap", hold);
  document.addEventListener("htmx:after:swap", giveBack);

  // The drawing of a plan: larger, smaller, as a whole, and dragged with a mouse; a finger and the arrow keys scroll it
  let size = 1;
  const STEP = 1.25, LEAST = .08, MOST = 3;
  const resize = (to) => {
    const graph = find(".graph"), svg = graph && find("svg", graph);
    if (!svg) return;
    const was = size, {width, height} = svg.viewBox.baseVal;
    size = Math.min(MOST, Math.max(LEAST, to));
    const x = (graph.scrollLeft + graph.clientWidth / 2) / was, y = (graph.scrollTop + graph.clientHeight / 2) / was;
    svg.setAttribute("width", Math.round(width * size));
    svg.setAttribute("height", Math.round(height * size));
    graph.scrollTo(x * size - graph.clientWidth / 2, y * size - graph.clientHeight / 2);
  };
  const fit = () => {
    const graph = find(".graph"), {width, height} = find("svg", graph).viewBox.baseVal;
    resize(Math.min((graph.clientWidth - 2) / width, (graph.clientHeight - 2) / height, 1));
  };
  const ZOOMS = {in: () => resize(size * STEP), out: () => resize(size / STEP), fit, whole: () => resize(1)};
  const ZOOM_KEYS = {"+": ZOOMS.in, "=": ZOOMS.in, "-": ZOOMS.out, 0: fit, 1: ZOOMS.whole};
  document.addEventListener("click", (event) => ZOOMS[event.target.dataset?.zoom]?.());
  document.addEventListener("wheel", (event) => {
    if (!event.ctrlKey || !event.target.closest(".graph")) return;
    event.preventDefault();
    resize(size * (event.deltaY < 0 ? STEP : 1 / STEP));
  }, {passive: false});
  document.addEventListener("pointerdown", (event) => {
    const graph = event.target.closest(".graph");
    if (!graph || event.button || event.pointerType === "touch") return;
    const left = graph.scrollLeft + event.clientX, top = graph.scrollTop + event.clientY;
    let moved = false;
    const drag = (at) => {
      moved ||= Math.hypot(at.clientX - event.clientX, at.clientY - event.clientY) > 4;
      if (moved) graph.scrollTo(left - at.clientX, top - at.clientY);
    };
    document.addEventListener("pointermove", drag);
    document.addEventListener("pointerup", () => {
      document.removeEventListener("pointermove", drag);
      if (moved) document.addEventListener("click", (click) => click.preventDefault(), {capture: true, once: true});
    }, {once: true});
  });
  document.addEventListener("dragstart", (event) => { if (event.target.closest?.(".graph")) event.preventDefault(); });
  document.addEventListener("htmx:after:swap", () => { if (size !== 1) { const to = size; size = 1; resize(to); } });

  // What a person writes into a review stays in this tab until it is decided: by person, run and digest. Under another
  // digest it is shown beside the request and never filled in; signing out and another person remove it.
  const DRAFT = "draft:", person = () => document.body.dataset.person;
  const draftName = () => `${DRAFT}${JSON.stringify([person(), find("#live")?.dataset.run])}`;
  const draftOf = (name) => JSON.parse(sessionStorage.getItem(name) || "null");
  const isKept = (field) => field.name && !["hidden", "password"].includes(field.type) && field.tagName !== "BUTTON" && field.tagName !== "FIELDSET";
  const valueOf = (field) => field.type === "checkbox" || field.type === "radio" ? field.checked : field.value;
  const first = new Map();  // field -> what the page came with
  let pending = {};  // what a draft has for fields that the page does not have yet: panels and fields that are fetched
  const nameOf = (field) => `${field.name} ${field.type === "radio" ? field.value : ""}`;
  const know = () => { for (const field of find("#review")?.elements || []) if (isKept(field) && !first.has(field)) first.set(field, field.name.startsWith("new:") ? "" : valueOf(field)); };
  const keepDraft = () => {
    const form = find("#review"), fields = {...pending};
    for (const field of form.elements) if (isKept(field) && first.has(field) && valueOf(field) !== first.get(field)) fields[nameOf(field)] = valueOf(field);
    if (Object.keys(fields).length) sessionStorage.setItem(draftName(), JSON.stringify({digest: find("[name=digest]", form).value, fields}));
    else sessionStorage.removeItem(draftName());
  };
  const showDraft = (draft) => {
    const place = find("#draft"), list = find("dl", place);
    for (const [name, value] of Object.entries(draft.fields)) {
      const row = document.createElement("div");
      row.append(Object.assign(document.createElement("dt"), {textContent: name.trim()}), Object.assign(document.createElement("dd"), {textContent: value}));
      list.append(row);
    }
    place.hidden = false;
    find("button", place).addEventListener("click", () => { sessionStorage.removeItem(draftName()); place.hidden = true; });
  };
  const fillDraft = () => {
    const fetches = [];
    for (const field of find("#review").elements) {
      const value = pending[nameOf(field)];
      if (!isKept(field) || value === undefined) continue;
      delete pending[nameOf(field)];
      if (typeof value === "boolean") field.checked = value; else field.value = value;
      for (let part = field.closest("details"); part; part = part.parentElement.closest("details")) part.open = true;
      if (field.name.endsWith(":does") || field.id === "edit-as-text") fetches.push(field);
    }
    for (const field of fetches) field.dispatchEvent(new Event("change", {bubbles: true}));
  };
  const drafts = () => {
    if (person() === undefined) return;
    for (const name of Object.keys(sessionStorage)) if (name.startsWith(DRAFT) && JSON.parse(name.slice(DRAFT.length))[0] !== person()) sessionStorage.removeItem(name);
    const form = find("#review"), live = find("#live[data-run]"), draft = live && draftOf(draftName());
    know();
    if (draft && (live.dataset.status !== "waiting" || (draft.sent && find("[name=digest]")?.value !== draft.digest))) sessionStorage.removeItem(draftName());
    else if (draft && form && find("[name=digest]", form).value !== draft.digest) showDraft(draft);
    else if (draft && form && !find("#wrong")) {
      pending = {...draft.fields};
      for (const number of new Set(Object.keys(pending).filter((name) => name.startsWith("new:")).map((name) => name.split(":")[1]))) addStep(find("#edit"), number);
      for (const id of new Set(Object.keys(pending).filter((name) => /^(step|comment):/.test(name)).map((name) => name.trim().split(":")[1]))) if (!panelOf(id)) fetchPanel(id);
      fillDraft();
    }
    form?.addEventListener("input", keepDraft);
    form?.addEventListener("submit", () => { const now = draftOf(draftName()); if (now) sessionStorage.setItem(draftName(), JSON.stringify({...now, sent: true})); });
    find('form[action$="/logout"]')?.addEventListener("submit", () => { for (const name of Object.keys(sessionStorage)) if (name.startsWith(DRAFT)) sessionStorage.removeItem(name); });
  };

  // Keys
  const on = () => localStorage.getItem("keys") !== "off";
  const rows = () => all("[data-row]").filter((row) => row.offsetParent !== null);
  const focusable = (row) => find("a, button", row) || row;
  const move = (by) => {
    const list = rows(), now = list.findIndex((row) => row.contains(document.activeElement));
    const to = now >= 0 ? now + by : place >= 0 ? place + Math.min(by, 0) : by > 0 ? 0 : list.length - 1;
    const next = list[Math.min(list.length - 1, Math.max(0, to))];
    if (next) { (next.matches(".action") ? next : focusable(next)).focus(); next.scrollIntoView({block: "nearest"}); }
  };
  const help = () => { const dialog = find("#help"); if (!dialog.open) dialog.showModal(); };
  let before = "";
  document.addEventListener("keydown", (event) => {
    const typing = event.target.closest("input:not([type=checkbox]):not([type=radio]), textarea, select, dialog[open]");  // right after it is closed, a dialog still has the focus
    const zooms = event.target.closest(".graph") && ZOOM_KEYS[event.key];
    if (zooms && !event.ctrlKey && !event.metaKey && on()) { event.preventDefault(); zooms(); return; }
    if (typing || event.ctrlKey || event.metaKey || event.altKey || !on()) return;
    const keys = {
      j: () => move(1), k: () => move(-1), "?": help,
      "/": () => find("#find")?.focus(),
      a: () => find("#approve")?.focus(),
      r: () => find("#message")?.focus(),
      e: () => { const edit = find("#edit"); if (edit) { edit.open = true; find(".step-form summary, input[type=search]", edit)?.focus(); } },
      i: () => { if (before === "g") find(".brand").click(); },
    };
    if (keys[event.key]) { event.preventDefault(); keys[event.key](); }
    before = event.key;
  });

  // Forms: a question before what cannot be undone, and one click is enough
  document.addEventListener("submit", (event) => {
    fillIn();
    const words = event.submitter?.dataset.confirm || event.target.dataset.confirm;
    if (words && !confirm(words)) { event.preventDefault(); return; }
    if (event.target.method === "post") setTimeout(() => all("button", event.target).forEach((button) => { button.disabled = true; }), 0);
  });
  // The form of a plan: steps are added, removed and moved
  const taken = (editor) => new Set([...all("[data-key]", editor).map((one) => one.dataset.key), ...all('[name$=":id"]', editor).map((one) => one.value)]);
  const reordered = (editor) => {
    const order = find("[name=order]", editor);
    if (find("#find-step", editor)) return;  // not all steps are here: they stay as they are, and new ones come last
    order.value = all(".step-forms > [data-key]", editor).map((one) => one.dataset.key).join(",");
    order.dispatchEvent(new Event("input", {bubbles: true}));
  };
  const addStep = (editor, wanted) => {
    const ids = taken(editor);
    let number = wanted || 1, name = 1;
    while (!wanted && ids.has(`new:${number}`)) number += 1;
    while (ids.has(`step_${name}`)) name += 1;
    const made = document.importNode(find("#new-step", editor).content, true);
    find("fieldset", made).dataset.key = `new:${number}`;
    for (const field of all("[name]", made)) field.name = field.name.replace("new:0:", `new:${number}:`);
    for (const place of all("[data-fault-of]", made)) place.dataset.faultOf = place.dataset.faultOf.replace("new:0:", `new:${number}:`);
    find('[name$=":id"]', made).value = `step_${name}`;
    // The others may wait for it, and it for new ones before it.
    for (const after of all(".step-form:not(.new) .after", editor)) {
      const box = document.createElement("label"), field = document.createElement("input");
      Object.assign(field, {type: "checkbox", value: "1", name: find("[type=hidden]", after).name.replace("depends_on", `after:new:${number}`)});
      box.className = "check";
      box.append(field, ` the new step step_${name}`);
      after.append(box);
    }
    find(".step-forms", editor).append(made);
    know();
    find(".step-forms > :last-child [name$=':id']", editor).select();
    reordered(editor);
  };
  const moveStep = (step, by, button) => {
    const other = by < 0 ? step.previousElementSibling : step.nextElementSibling;
    if (!other) return;
    if (by < 0) other.before(step); else other.after(step);
    button.focus();
    say(`moved ${by < 0 ? "before" : "after"} ${other.dataset.editStep || "the new step"}`);
    reordered(step.closest("#edit"));
  };
  document.addEventListener("click", (event) => {
    const button = event.target.closest("#edit button[type=button]"), editor = find("#edit");
    if (!button) return;
    const step = button.closest("[data-edit-step]");
    if (button.id === "add-step") addStep(editor);
    else if ("drop" in button.dataset) {
      for (const box of all(`[name$=":after:${step.dataset.key}"]`, editor)) box.closest("label").remove();
      step.remove();
      reordered(editor);
      find("#add-step").focus();
    }
    else if (button.dataset.move) moveStep(step, Number(button.dataset.move), button);
  });

  // A click on a step of the drawing, or of the list, opens its panel; that of a large plan is fetched.
  const panelOf = (id) => all("[data-edit-step]").find((one) => one.dataset.editStep === id);
  const partOf = (values) => `${find("#edit").dataset.parts}&${new URLSearchParams(values)}`;
  const fetchPanel = (id) => htmx.ajax("GET", partOf({step: id}), {target: "#edit .step-forms", swap: "beforeend"});
  const openStep = async (id) => {
    find("#edit").open = true;
    if (!panelOf(id)) await fetchPanel(id);
    const panel = panelOf(id);
    if (!panel) return;
    panel.open = true;
    panel.scrollIntoView({block: "start"});
    find("summary", panel).focus({preventScroll: true});
  };
  document.addEventListener("click", (event) => {
    const to = event.target.closest("[data-open-step], #review .node[data-step]");
    if (!to || !find("#edit") || event.ctrlKey || event.metaKey || event.shiftKey) return;
    event.preventDefault();
    openStep(to.dataset.openStep || to.dataset.step);
  });
  // Other tools take other arguments.
  document.addEventListener("change", (event) => {
    const field = event.target;
    if (!field.name?.endsWith(":does")) return;
    const form = field.closest(".step-form"), key = field.name.slice(0, -"does".length), place = find(".args", form);
    const kind = find('[name$=":kind"]', form)?.value;
    htmx.ajax("GET", partOf({key, does: field.value, ...(place.dataset.stepId ? {step: place.dataset.stepId} : {}), ...(kind ? {kind} : {})}), {target: place, swap: "innerHTML"});
  });

  // Each fault of an edit stands at its field, or else at its step.
  const faultsAtSteps = () => {
    const faults = all("[data-fault-step]");
    for (const place of all("[data-fault-of]")) {
      const found = faults.filter((one) => one.dataset.faultName === place.dataset.faultOf);
      place.textContent = found.map((one) => find("span", one).textContent.trim()).join("; ");
      const field = document.getElementsByName(place.dataset.faultOf)[0];
      place.id ||= `fault-${place.dataset.faultOf}`;
      if (found.length) { field?.setAttribute("aria-invalid", "true"); field?.setAttribute("aria-describedby", place.id); }
      else { field?.removeAttribute("aria-invalid"); field?.removeAttribute("aria-describedby"); }
    }
    for (const place of all(".step-faults")) {
      const form = place.closest(".step-form"), name = place.dataset.faultsOf ?? find('[name$=":id"]', form).value.trim();
      const found = !name ? [] : faults.filter((one) => one.dataset.faultStep === name);
      const apart = found.filter((one) => !all("[data-fault-of]", form).some((field) => field.dataset.faultOf === one.dataset.faultName));
      place.textContent = apart.map((one) => one.textContent.trim()).join("; ");
      form.classList.toggle("faulty", found.length > 0);
    }
  };
  document.addEventListener("htmx:after:swap", () => {
    fillIn();
    times();
    know();
    if (Object.keys(pending).length) fillDraft();
    faultsAtSteps();
  });

  const start = () => {
    fillIn();
    times();
    faultsAtSteps();
    const keysOn = find("#keys-on");
    if (keysOn) { keysOn.checked = on(); keysOn.addEventListener("change", () => localStorage.setItem("keys", keysOn.checked ? "on" : "off")); }
    find("#help-button")?.addEventListener("click", help);
    find(".tabs [aria-current]")?.scrollIntoView({block: "nearest", inline: "nearest"});
    find("#wrong")?.focus();
    drafts();
    setTimeout(open, 0);
  };
  document.addEventListener("DOMContentLoaded", start);  // htmx listens for it too, and was first
})();
