import { once } from 'node:events'
import type { IncomingMessage } from 'node:http'
import type { Readable } from 'node:stream'
import { setImmediate as turn } from 'node:timers/promises'
import busboy, { type Busboy, type FieldInfo, type FileInfo, type Limits } from 'busboy'
import { getBodyStream, readChunks, rejectEncodedBody } from './body.js'
import { watchBodyPace } from './pace.js'

/** Limits of a form, and the errors for violations. */
export interface FormBounds {
  /** Of all files together. */
  maxBytes: number
  limits: Limits
  /** @param type content type of the body, '' for none */
  notForm(type: string): Error
  tooLarge(): Error
  /** For more parts of a kind than `limits` allow. */
  tooMany(kind: 'files' | 'fields' | 'parts'): Error
  malformed(reason: string, cause: unknown): Error
}

type FailForm = (error: unknown) => void

/** Receives the parts of a form as they arrive. Errors of these methods reject the form. */
export interface FormParts {
  /**
   * Called at the start of a file, unless the form has already failed.
   *
   * @param fail rejects the form later
   * @returns the work on its bytes; undefined for a skipped file
   */
  file(name: string | undefined, content: Readable, info: FileInfo, fail: FailForm): Promise<void> | undefined
  field(name: string | undefined, value: string, info: FieldInfo): void
  /** Receives the raw body as it arrives, before its parts are parsed. */
  raw?(chunk: Buffer): void
}

/** Bytes passed to the parser at a time: a chunk may contain dozens of small files, each with its own streams. */
const SLICE_BYTES = 16 * 1024
const MAX_NAME_BYTES = 200
const MAX_PART_HEADERS = 20
/** Maximum overhead of boundaries, part headers and fields beyond the bytes of the files. */
const OVERHEAD_BYTES = 1024 * 1024
const MULTIPART_TYPE = /^multipart\/form-data\s*;.*boundary=/i

/**
 * Opens a multipart body without reading it; no file is ever buffered completely.
 *
 * @returns a function that reads the body; to be called once. It settles when the work on every file has ended: with
 * the first failure, if any, after all other work was stopped.
 * @throws the error of `bounds` for a body that cannot be such a form
 */
export function openForm(
  request: Request,
  incoming: IncomingMessage | undefined,
  bounds: FormBounds,
): (parts: FormParts) => Promise<void> {
  const { headers } = request
  const type = headers.get('content-type') ?? ''
  if (!MULTIPART_TYPE.test(type)) throw bounds.notForm(type)
  rejectEncodedBody(headers)
  if (Number(headers.get('content-length') ?? 0) > bounds.maxBytes + OVERHEAD_BYTES) throw bounds.tooLarge()
  return async (parts) => {
    const parser = openParser(type, bounds)
    const source = getBodyStream(request, incoming)
    const work: Promise<void>[] = []
    const failure = createFirstFailure()
    connectParts(parser, { bounds, parts }, work, failure)
    const pace = watchBodyPace(failure.fail)
    const pump = async () => {
      const finished = once(parser, 'close')
      finished.catch(() => {})
      let size = 0
      for await (const chunk of readChunks(source)) {
        if (failure.hasFailed()) return
        pace.addBytes(chunk.length)
        size += chunk.length
        if (size > bounds.maxBytes + OVERHEAD_BYTES) throw bounds.tooLarge()
        parts.raw?.(chunk)
        for (let offset = 0; offset < chunk.length; offset += SLICE_BYTES) {
          if (offset > 0) await turn()
          if (failure.hasFailed()) return
          const slice = chunk.subarray(offset, offset + SLICE_BYTES)
          if (!parser.write(slice)) await pace.waitExcused(Promise.race([once(parser, 'drain'), finished]))
        }
      }
      parser.end()
      await finished
    }
    try {
      await Promise.race([pump(), failure.promise])
      pace.stop()
      await Promise.race([Promise.all(work), failure.promise])
    } catch (error) {
      failure.fail(error)
      source.on('error', () => {}) // The client may disconnect while it receives the error.
      parser.destroy()
      await Promise.allSettled(work)
      await failure.promise
    } finally {
      pace.stop()
    }
  }
}

function openParser(type: string, { limits, malformed }: FormBounds): Busboy {
  try {
    return busboy({
      headers: { 'content-type': type },
      preservePath: true, // The reader decides what to do with folders in a name.
      defParamCharset: 'utf8',
      limits: { fieldNameSize: MAX_NAME_BYTES, headerPairs: MAX_PART_HEADERS, ...limits },
    })
  } catch (error) {
    throw malformed(toReason(error), error)
  }
}

interface FirstFailure {
  /** Only rejects, with the first failure; later failures are ignored. */
  promise: Promise<never>
  hasFailed(): boolean
  fail: FailForm
}

function createFirstFailure(): FirstFailure {
  let fail: FailForm = () => {}
  let hasFailed = false
  const promise = new Promise<never>((_resolve, reject) => {
    fail = (error) => {
      hasFailed = true
      reject(error)
    }
  })
  promise.catch(() => {})
  return { promise, hasFailed: () => hasFailed, fail }
}

/** Passes each part on as the parser finds it; the work on files is added to `work`. */
function connectParts(
  parser: Busboy,
  { bounds, parts }: { bounds: FormBounds; parts: FormParts },
  work: Promise<void>[],
  { fail, hasFailed }: FirstFailure,
): void {
  const attempt = <T>(act: () => T): T | undefined => {
    try {
      return act()
    } catch (error) {
      fail(error)
      return undefined
    }
  }
  parser
    .on('file', (name: string | undefined, content, info) => {
      content.on('error', () => {}) // Reported through the failure of the form.
      const reading = hasFailed() ? undefined : attempt(() => parts.file(name, content, info, fail))
      if (reading === undefined) return void content.resume()
      reading.catch(fail)
      work.push(reading)
    })
    .on('field', (name: string | undefined, value, info) => attempt(() => parts.field(name, value, info)))
    .on('filesLimit', () => fail(bounds.tooMany('files')))
    .on('fieldsLimit', () => fail(bounds.tooMany('fields')))
    .on('partsLimit', () => fail(bounds.tooMany('parts')))
    .on('error', (error) => fail(bounds.malformed(toReason(error), error)))
}

function toReason(cause: unknown): string {
  return cause instanceof Error ? cause.message : 'unknown reason'
}
