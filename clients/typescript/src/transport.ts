import { Busy, errorOf, HithertoError } from "./errors.js";

export type Query = Record<string, string | number | boolean | readonly string[] | Date | null | undefined>;

export interface Options {
  /** Where the service listens, such as "http://127.0.0.1:8080". */
  url: string;
  /** A key made by `hitherto keys create`. One that belongs to a user works for that user alone. */
  key: string;
  /** Milliseconds that one attempt may take; 30,000 unless given. */
  timeout?: number;
  /** How often a request is sent again when its answer is lost or the service is busy; 2 unless given. */
  retries?: number;
  /** What makes requests, in place of the platform's own `fetch`. */
  fetch?: typeof globalThis.fetch;
}

interface Sent {
  query?: Query;
  json?: unknown;
  body?: string;
}

const LONGEST_WAIT = 10_000;

/** One service and one key. A POST carries an idempotency key, so that one whose answer was lost can be sent again. */
export class Transport {
  readonly #url: string;
  readonly #key: string;
  readonly #timeout: number;
  readonly #retries: number;
  readonly #fetch: typeof globalThis.fetch;

  constructor({ url, key, timeout = 30_000, retries = 2, fetch = globalThis.fetch }: Options) {
    this.#url = url.replace(/\/+$/, "");
    this.#key = key;
    this.#timeout = timeout;
    this.#retries = retries;
    this.#fetch = (...given) => fetch(...given);
  }

  /** The answer as JSON; undefined for one without a body. */
  async ask<T>(method: string, path: string, sent: Sent = {}): Promise<T> {
    const response = await this.send(method, path, sent);
    return (response.status === 204 ? undefined : await response.json()) as T;
  }

  async send(method: string, path: string, { query, json, body }: Sent = {}): Promise<Response> {
    const headers: Record<string, string> = { Authorization: `Bearer ${this.#key}` };
    if (method === "POST") headers["Idempotency-Key"] = crypto.randomUUID();
    if (json !== undefined) headers["Content-Type"] = "application/json";
    const address = this.#url + path + search(query);
    const content = json === undefined ? body : JSON.stringify(json);
    for (let attempt = 0; ; attempt += 1) {
      const last = attempt === this.#retries;
      let response: Response;
      try {
        response = await this.#fetch(address, { method, headers, body: content, signal: AbortSignal.timeout(this.#timeout) });
      } catch (cause) {
        if (last) throw new HithertoError("service_error", `${method} ${path}: ${String(cause)}`, undefined, undefined, { cause });
        await pause(wait(attempt));
        continue;
      }
      if (response.ok) return response;
      const problem = await errorOf(response);
      if (last || !(problem instanceof Busy)) throw problem;
      await pause(Math.min(LONGEST_WAIT, Math.max(problem.retryAfter * 1000, wait(attempt))));
    }
  }
}

/** A name as one step of a path. `fetch` resolves steps of dots, however they are written, before it sends an address. */
export function quoted(name: string): string {
  if (name === "." || name === "..") throw new HithertoError("invalid_input", `${JSON.stringify(name)} cannot be named in an address`);
  return encodeURIComponent(name);
}

function search(query: Query = {}): string {
  const given = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) {
    if (value === null || value === undefined) continue;
    if (Array.isArray(value)) value.forEach((one: string) => given.append(name, one));
    else given.append(name, value instanceof Date ? value.toISOString() : String(value));
  }
  const text = given.toString();
  return text && `?${text}`;
}

/** A little longer each time, and never the same for all clients. */
function wait(attempt: number): number {
  return 100 * 2 ** attempt * (0.5 + Math.random() / 2);
}

function pause(milliseconds: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, milliseconds));
}
