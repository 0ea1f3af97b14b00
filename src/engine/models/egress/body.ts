import { Readable } from 'node:stream'
import { createBrotliDecompress, createGunzip, createInflate } from 'node:zlib'
import { EgressFailure, toEgressFailure } from './failure.js'

/**
 * The decoded body of a response, limited to `maxBytes`. Decodes one layer of compression only, as honest servers use
 * one.
 *
 * @param options `signal` ends the body with its reason; `onClose` is called once when nothing more will be read
 */
export function createBoundedBody(
  body: Readable,
  options: { encoding: string | undefined; maxBytes: number; signal: AbortSignal; onClose: () => void },
): Readable {
  const { encoding, maxBytes, signal, onClose } = options
  const bounded = Readable.from(readDecoded(body, encoding, maxBytes, signal), { objectMode: false })
  // its reader gets the error; without a reader it must not end the process
  bounded.on('error', () => undefined)
  const abort = () => void bounded.destroy(signal.reason)
  signal.addEventListener('abort', abort, { once: true })
  if (signal.aborted) abort()
  bounded.once('close', () => {
    signal.removeEventListener('abort', abort)
    discardBody(body)
    onClose()
  })
  return bounded
}

/** Discards a body that is not read. */
export function discardBody(body: Readable): void {
  body.on('error', () => undefined).destroy()
}

async function* readDecoded(body: Readable, encoding: string | undefined, maxBytes: number, signal: AbortSignal) {
  let decoded: Readable | undefined
  let bytes = 0
  try {
    decoded = decode(body, encoding)
    for await (const chunk of decoded) {
      if (!(chunk instanceof Uint8Array)) continue
      bytes += chunk.length
      if (bytes > maxBytes) throw new EgressFailure(`more than ${maxBytes} bytes`)
      yield Buffer.from(chunk)
    }
  } catch (error) {
    throw signal.aborted ? signal.reason : toEgressFailure(error)
  } finally {
    decoded?.destroy()
    discardBody(body)
  }
}

function decode(body: Readable, encoding: string | undefined): Readable {
  const name = encoding?.trim().toLowerCase() ?? ''
  if (name === '' || name === 'identity') return body
  const decoder = createDecoder(name)
  if (decoder === undefined) throw new EgressFailure('unsupported content encoding')
  body.on('error', (error) => decoder.destroy(error))
  return body.pipe(decoder)
}

function createDecoder(name: string) {
  if (name === 'gzip' || name === 'x-gzip') return createGunzip()
  if (name === 'deflate') return createInflate()
  return name === 'br' ? createBrotliDecompress() : undefined
}
