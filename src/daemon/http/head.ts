/** HEAD is served wherever GET is, by the same operation (RFC 9110, 9.3.2). */
export function operationMethod(request: Request): string {
  return request.method === 'HEAD' ? 'GET' : request.method
}

/** The value of `Allow` for methods that have an operation: HEAD comes with GET. */
export function allowOf(methods: Iterable<string>): string {
  const known = new Set(methods)
  if (known.has('GET')) known.add('HEAD')
  return [...known].sort().join(', ')
}

/** Events, and bundles. */
const STREAMED = /^(text\/event-stream|application\/x-tar)\b/

/** The answer to HEAD: what GET is answered with, its length included, without the bytes. */
export async function withoutBody(response: Response): Promise<Response> {
  const { status } = response
  const headers = new Headers(response.headers)
  // streams are let go unread: one that is made as it is sent has no length, a file has said its own
  if (headers.has('content-length') || STREAMED.test(headers.get('content-type') ?? '')) await response.body?.cancel()
  else if (response.body !== null) headers.set('content-length', String((await response.arrayBuffer()).byteLength))
  return new Response(null, { status, headers })
}
