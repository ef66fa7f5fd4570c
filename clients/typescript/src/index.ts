export type * from "./api.js";
export { Hitherto, type Shelves, type Turn } from "./client.js";
export { Busy, HithertoError } from "./errors.js";
export type { Options } from "./transport.js";
