import { once } from 'node:events'
import type { IncomingMessage } from 'node:http'
import type { Readable } from 'node:stream'
import busboy, { type Busboy } from 'busboy'
import { ChatError, invalidParam } from '../../contract/chat/errors.js'
import { bodyStream, chunksOf, refuseEncodedBody } from '../http/body.js'
import { type Pace, watchPace } from '../http/pace.js'

export interface FormFile {
  /** as the client wrote it, with whatever folders it put there */
  filename: string
  /** as the client declared it; application/octet-stream where it did not */
  mimeType: string
  content: Readable
}

/** What a form may hold, and the words for what it lacks. */
export interface FormRules {
  /** name of the one file part; none are taken where absent */
  file?: {
    name: string
    maxBytes: number
    accept(file: FormFile): Promise<void>
    /** for a file whose name is empty; without it such a file counts as missing */
    unnamed?(): ChatError
  }
  maxFieldBytes: number
  /** for a form without the file, and for a body that is no form */
  missing(): ChatError
  tooLarge(): ChatError
}

const MAX_FIELDS = 50
const MAX_PARTS = 60
/** what boundaries, part headers and the fields may add to the bytes of the file */
const OVERHEAD_BYTES = 1024 * 1024
/** what a part head says of a file without a name */
const EMPTY_NAME = 'filename=""'
const MULTIPART_TYPE = /^multipart\/form-data\s*;.*boundary=/i

/**
 * Reads a form of the chat service as it arrives, its parts in any order. Files under other names are skipped, since
 * clients send what they like.
 *
 * @returns the text fields
 * @throws ChatError, KsError for a body that cannot be read, or what `accept` threw
 */
export async function readForm(
  request: Request,
  incoming: IncomingMessage | undefined,
  rules: FormRules,
): Promise<Record<string, string>> {
  const type = request.headers.get('content-type') ?? ''
  if (!MULTIPART_TYPE.test(type)) throw rules.missing()
  refuseEncodedBody(request.headers)
  const maxBytes = (rules.file?.maxBytes ?? 0) + OVERHEAD_BYTES
  if (Number(request.headers.get('content-length') ?? 0) > maxBytes) throw rules.tooLarge()
  const source = bodyStream(request, incoming)
  const parser = openParser(type, rules)
  const failure = firstFailure()
  const { fields, accepted } = collect(parser, rules, failure.fail)
  const pace = watchPace((slow) => failure.fail(slow))
  const progress = { maxBytes, pace, unnamed: false }
  try {
    await Promise.race([pump(source, parser, rules, progress), failure.promise])
    pace.stop()
    await Promise.race([Promise.all(accepted), failure.promise])
  } catch (error) {
    failure.fail(error)
    source.on('error', () => {}) // the client may hang up on what it is being told
    parser.destroy()
    await Promise.allSettled(accepted)
    return await failure.promise
  } finally {
    pace.stop()
  }
  if (rules.file !== undefined && accepted.length === 0)
    throw progress.unnamed ? (rules.file.unnamed ?? rules.missing)() : rules.missing()
  return Object.fromEntries(fields)
}

/** A promise that only fails: with the first failure, of which others follow. */
function firstFailure() {
  let fail: (error: unknown) => void = () => {}
  const promise = new Promise<never>((_resolve, reject) => {
    fail = reject
  })
  promise.catch(() => {})
  return { promise, fail }
}

function openParser(type: string, { file, maxFieldBytes }: FormRules): Busboy {
  try {
    return busboy({
      headers: { 'content-type': type },
      preservePath: true, // a name with folders is refused, not shortened
      defParamCharset: 'utf8',
      limits: {
        fieldNameSize: 200,
        fieldSize: maxFieldBytes,
        fields: MAX_FIELDS,
        parts: MAX_PARTS,
        fileSize: (file?.maxBytes ?? 0) + 1, // whoever takes the file counts; this only ends what goes on for ever
        headerPairs: 20,
      },
    })
  } catch (error) {
    throw malformed(error)
  }
}

function collect(parser: Busboy, { file, maxFieldBytes }: FormRules, fail: (error: unknown) => void) {
  const fields = new Map<string, string>()
  const accepted: Promise<void>[] = []
  parser
    .on('file', (name: string | undefined, content, { filename, mimeType }) => {
      content.on('error', () => {}) // told through the form's own failure
      if (file === undefined || name !== file.name) return void content.resume()
      if (accepted.length > 0) {
        content.resume()
        return fail(new ChatError('too_many_files', 'Only one file is allowed.'))
      }
      const taken = file.accept({ filename: filename ?? '', mimeType, content })
      taken.catch(fail)
      accepted.push(taken)
    })
    .on('field', (name: string | undefined, value, { valueTruncated }) => {
      if (name === undefined || name === file?.name) return
      if (valueTruncated) return fail(invalidParam(name.slice(0, 100), `a field has at most ${maxFieldBytes} bytes`))
      fields.set(name, value)
    })
    .on('fieldsLimit', () => fail(new ChatError('bad_request', `a form has at most ${MAX_FIELDS} fields`)))
    .on('partsLimit', () => fail(new ChatError('bad_request', `a form has at most ${MAX_PARTS} parts`)))
    .on('error', (error) => fail(malformed(error)))
  return { fields, accepted }
}

interface Progress {
  readonly maxBytes: number
  readonly pace: Pace
  /** a file with an empty name came, which the parser takes for a field */
  unnamed: boolean
}

async function pump(source: Readable, parser: Busboy, rules: FormRules, progress: Progress) {
  const finished = once(parser, 'close')
  finished.catch(() => {})
  let size = 0
  for await (const chunk of chunksOf(source)) {
    progress.pace.took(chunk.length)
    size += chunk.length
    if (size > progress.maxBytes) throw rules.tooLarge()
    progress.unnamed ||= chunk.includes(EMPTY_NAME)
    if (!parser.write(chunk)) await progress.pace.held(Promise.race([once(parser, 'drain'), finished]))
  }
  parser.end()
  await finished
}

function malformed(cause: unknown): ChatError {
  return new ChatError(
    'bad_request',
    `The form cannot be read: ${cause instanceof Error ? cause.message : 'no reason'}`,
  )
}
