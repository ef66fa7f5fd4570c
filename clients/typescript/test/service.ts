import { Hitherto, type Options } from "../src/index.js";

/** A client of the running service that the tests are given, and a user whom no other test knows. */
export function client(options: Partial<Options> = {}): Hitherto {
  const { HITHERTO_URL: url, HITHERTO_KEY: key } = process.env;
  if (!url || !key) throw new Error("HITHERTO_URL and HITHERTO_KEY say which running service to test against");
  return new Hitherto({ url, key, ...options });
}

export function somebody(): string {
  return `ana-${crypto.randomUUID()}`;
}
