/** The service's errors. `kind` is what the service calls them: "not_found", "invalid_input", … */
export class HithertoError extends Error {
  constructor(
    readonly kind: string,
    message: string,
    readonly status?: number,
    readonly requestId?: string,
    options?: ErrorOptions,
  ) {
    super(message, options);
    this.name = kind;
  }
}

/** The service is at its limit or the key over its rate. The client has tried again before it throws this. */
export class Busy extends HithertoError {
  constructor(kind: string, message: string, status: number, requestId: string | undefined, readonly retryAfter: number) {
    super(kind, message, status, requestId);
  }
}

/** Reads an error answer; one in another shape (a proxy's page, say) is a "service_error". */
export async function errorOf(response: Response): Promise<HithertoError> {
  const text = await response.text().catch(() => "");
  let kind = "service_error";
  let message = `the service answered ${response.status}`;
  let requestId: string | undefined;
  try {
    const { error } = JSON.parse(text) as { error: { type: string; message: string; request_id?: string } };
    if (typeof error.type === "string" && typeof error.message === "string") {
      ({ type: kind, message } = error);
      requestId = error.request_id;
    }
  } catch {
    // Not JSON, or not of this shape: the status says what is known.
  }
  if (response.status === 429 || response.status === 503) {
    return new Busy(kind, message, response.status, requestId, Number(response.headers.get("retry-after")) || 1);
  }
  return new HithertoError(kind, message, response.status, requestId);
}
