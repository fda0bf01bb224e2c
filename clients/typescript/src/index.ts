/**
 * A client of OpenMind's loopback API.
 *
 *     const openmind = new OpenMind();
 *     const found = await openmind.search("rent increase");
 *     for await (const { event, data } of openmind.askStream("How much will the rent rise?")) …
 */

import { readEvents } from "./events.js";
import { tokenFromHome } from "./node.js";
import type * as api from "./types.js";

export type * from "./types.js";
export { openmindHome, tokenFromHome } from "./node.js";

export interface Options {
  /** Where the server is; `http://127.0.0.1:8765` by default. */
  baseUrl?: string;
  /** Gives the token, for each request; reads OpenMind's own file by default. */
  token?: () => string | Promise<string>;
  fetch?: typeof fetch;
}

export interface Abortable {
  signal?: AbortSignal;
}

/** Why a request was refused, or failed. */
export class OpenMindError extends Error {
  override readonly name = "OpenMindError";

  constructor(
    message: string,
    /** Stable name of the failure. */
    readonly code: string,
    /** 0 for a stream that failed after it began. */
    readonly status: number,
    /** What a person can do next; may be empty. */
    readonly hint: string,
    readonly errors: { path: string; message: string }[] = [],
    readonly requestId: string | null = null,
  ) {
    super(message);
  }
}

type Method = "GET" | "POST" | "PUT" | "PATCH" | "DELETE";

export class OpenMind {
  readonly #baseUrl: string;
  readonly #token: () => string | Promise<string>;
  readonly #fetch: typeof fetch;

  constructor(options: Options = {}) {
    this.#baseUrl = options.baseUrl ?? "http://127.0.0.1:8765";
    this.#token = options.token ?? (() => tokenFromHome());
    this.#fetch = options.fetch ?? fetch;
  }

  /** Whether the server lives. Needs no token. */
  async health(options: Abortable = {}): Promise<api.Health> {
    const response = await this.#reach(`${this.#baseUrl}/health`, { ...options });
    if (!response.ok) throw await failure(response);
    return (await response.json()) as api.Health;
  }

  status(options: Abortable = {}): Promise<api.Status> {
    return this.#json("GET", "/status", undefined, options);
  }

  async providers(options: Abortable = {}): Promise<api.Provider[]> {
    return (await this.#json<{ providers: api.Provider[] }>("GET", "/providers", undefined, options)).providers;
  }

  providerStatus(options: Abortable = {}): Promise<api.ProviderStatus> {
    return this.#json("GET", "/providers/status", undefined, options);
  }

  models(options: Abortable = {}): Promise<api.Models> {
    return this.#json("GET", "/models", undefined, options);
  }

  /** Load models; without keys the configured ones. */
  async loadModels(keys: string[] | null = null, options: Abortable = {}): Promise<api.ModelAction[]> {
    const body = { model_keys: keys };
    return (await this.#json<{ results: api.ModelAction[] }>("POST", "/models/load", body, options)).results;
  }

  selectModels(selection: api.Selection, options: Abortable = {}): Promise<api.SelectionResult> {
    return this.#json("PUT", "/models/selection", selection, options);
  }

  async sources(options: Abortable = {}): Promise<api.Source[]> {
    return (await this.#json<{ sources: api.Source[] }>("GET", "/sources", undefined, options)).sources;
  }

  addSource(path: string, recursive = true, options: Abortable = {}): Promise<api.Source> {
    return this.#json("POST", "/sources", { path, recursive }, options);
  }

  /** Changes how a folder is read, and whether. */
  changeSource(sourceId: string, change: api.SourceChange, options: Abortable = {}): Promise<api.Source> {
    return this.#json("PATCH", `/sources/${encodeURIComponent(sourceId)}`, change, options);
  }

  removeSource(sourceId: string, options: Abortable = {}): Promise<api.Removal> {
    return this.#json("DELETE", `/sources/${encodeURIComponent(sourceId)}`, undefined, options);
  }

  startIndex(options: Abortable = {}): Promise<api.Job> {
    return this.#json("POST", "/index/start", undefined, options);
  }

  indexStatus(options: Abortable = {}): Promise<api.Job> {
    return this.#json("GET", "/index/status", undefined, options);
  }

  pauseIndex(options: Abortable = {}): Promise<api.Job> {
    return this.#json("POST", "/index/pause", undefined, options);
  }

  resumeIndex(options: Abortable = {}): Promise<api.Job> {
    return this.#json("POST", "/index/resume", undefined, options);
  }

  stopIndex(options: Abortable = {}): Promise<api.Job> {
    return this.#json("POST", "/index/stop", undefined, options);
  }

  /** The job now, with every change, and when it is finished. */
  async *indexEvents(options: Abortable = {}): AsyncGenerator<api.Job, void, undefined> {
    for await (const { data } of this.#events("GET", "/index/events", undefined, options)) yield data as api.Job;
  }

  search(query: string, options: api.SearchOptions & Abortable = {}): Promise<api.SearchResult> {
    const { signal, ...body } = options;
    return this.#json("POST", "/search", { query, ...body }, abortable(signal));
  }

  ask(question: string, options: api.AskOptions & Abortable = {}): Promise<api.Answer> {
    const { signal, ...body } = options;
    return this.#json("POST", "/ask", { question, ...body }, abortable(signal));
  }

  /** The answer while it is written. To leave the loop, or to abort, stops the model. */
  async *askStream(
    question: string,
    options: api.AskOptions & Abortable = {},
  ): AsyncGenerator<api.AnswerEvent, void, undefined> {
    const { signal, ...body } = options;
    for await (const found of this.#events("POST", "/ask/stream", { question, ...body }, abortable(signal))) {
      if (KNOWN.has(found.event)) yield found as api.AnswerEvent;
    }
  }

  endSession(sessionId: string, options: Abortable = {}): Promise<{ session_id: string; ended: true }> {
    return this.#json("DELETE", `/chat/sessions/${encodeURIComponent(sessionId)}`, undefined, options);
  }

  document(fileId: string, options: Abortable = {}): Promise<api.Document> {
    return this.#json("GET", `/documents/${encodeURIComponent(fileId)}`, undefined, options);
  }

  /** All passages of a file in reading order. */
  async *chunks(fileId: string, options: Abortable = {}): AsyncGenerator<api.Chunk, void, undefined> {
    let start: number | null = 0;
    while (start !== null) {
      const path = `/documents/${encodeURIComponent(fileId)}/chunks?limit=500&start=${start}`;
      const page: api.Chunks = await this.#json("GET", path, undefined, options);
      yield* page.chunks;
      start = page.next_start;
    }
  }

  /** All files, or those of a status or reason. */
  async *files(status?: string, options: Abortable = {}): AsyncGenerator<api.File, void, undefined> {
    const query = new URLSearchParams({ limit: "500", ...(status === undefined ? {} : { status }) });
    for (;;) {
      const page: api.Files = await this.#json("GET", `/files?${query.toString()}`, undefined, options);
      yield* page.files;
      if (page.next === null) return;
      query.set("after", page.next);
    }
  }

  /** Open a file in the application that the system has for it. */
  open(fileId: string, options: Abortable = {}): Promise<{ opened: true; file_id: string; path: string }> {
    return this.#json("POST", "/actions/open", { file_id: fileId }, options);
  }

  async #json<T>(method: Method, path: string, body: unknown, options: Abortable): Promise<T> {
    return (await (await this.#send(method, path, body, options)).json()) as T;
  }

  async *#events(method: Method, path: string, body: unknown, options: Abortable) {
    const response = await this.#send(method, path, body, options);
    if (response.body === null) return;
    for await (const found of readEvents(response.body)) {
      if (found.event === "error") {
        const { message, code, hint } = found.data as { message: string; code: string; hint: string };
        throw new OpenMindError(message, code, 0, hint, [], response.headers.get("x-request-id"));
      }
      yield found;
    }
  }

  async #send(method: Method, path: string, body: unknown, options: Abortable): Promise<Response> {
    const headers: Record<string, string> = { Authorization: `Bearer ${await this.#token()}` };
    if (body !== undefined) headers["Content-Type"] = "application/json";
    const response = await this.#reach(`${this.#baseUrl}/api/v1${path}`, {
      method,
      headers,
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      ...options,
    });
    if (!response.ok) throw await failure(response);
    return response;
  }

  async #reach(url: string, request: RequestInit): Promise<Response> {
    try {
      return await this.#fetch(url, request);
    } catch (error) {
      if (request.signal?.aborted) throw error;
      const hint = "`openmind serve` starts it; `baseUrl` says where it is.";
      throw new OpenMindError(`Nothing answers at ${this.#baseUrl}`, "server.unreachable", 0, hint);
    }
  }
}

const KNOWN = new Set(["meta", "delta", "reasoning", "sources", "done"]);

function abortable(signal: AbortSignal | undefined): Abortable {
  return signal === undefined ? {} : { signal };
}

async function failure(response: Response): Promise<OpenMindError> {
  const id = response.headers.get("x-request-id");
  try {
    const { detail, code, hint, errors } = (await response.json()) as api.Problem;
    return new OpenMindError(detail, code, response.status, hint, errors ?? [], id);
  } catch {
    return new OpenMindError(`HTTP ${response.status}`, `http.${response.status}`, response.status, "", [], id);
  }
}
