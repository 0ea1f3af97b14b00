/** HEAD is served by the operation of GET (RFC 9110, 9.3.2). */
export function toOperationMethod(request: Request): string {
  return request.method === 'HEAD' ? 'GET' : request.method
}

/** The `Allow` header for methods that have an operation: GET includes HEAD. */
export function formatAllow(methods: Iterable<string>): string {
  const allowed = new Set(methods)
  if (allowed.has('GET')) allowed.add('HEAD')
  return [...allowed].sort().join(', ')
}

/** The response to HEAD: that to GET without its body; with its length unless it is streamed. */
export async function dropBody(response: Response, { isStreaming }: { isStreaming: boolean }): Promise<Response> {
  const { status } = response
  const headers = new Headers(response.headers)
  // A stream may be too long for memory, and a file has already stated its length.
  if (isStreaming || headers.has('content-length')) await response.body?.cancel()
  else if (response.body !== null) headers.set('content-length', String((await response.arrayBuffer()).byteLength))
  return new Response(null, { status, headers })
}
