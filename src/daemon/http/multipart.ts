import type { Hash } from 'node:crypto'
import { once } from 'node:events'
import type { IncomingMessage } from 'node:http'
import { type Readable, Transform } from 'node:stream'
import { finished } from 'node:stream/promises'
import { setImmediate as turn } from 'node:timers/promises'
import busboy, { type Busboy, type FileInfo } from 'busboy'
import pLimit from 'p-limit'
import { KsError } from '../../contract/errors.js'
import { quote, refusal } from '../../contract/issues.js'
import { LIMITS } from '../../contract/limits.js'
import type { MultipartDefinition } from '../../contract/route.js'
import type { UploadFile } from '../../engine/base/upload.js'
import { bodyStream, chunksOf, refuseEncodedBody } from './body.js'
import { FormDigest } from './form-digest.js'
import { type Pace, watchPace } from './pace.js'

export interface UploadLimits {
  uploadBytes: number
  bulkFiles: number
  bulkBytes: number
}

/**
 * Streams the parts of a multipart body: each file goes to `accept` as it arrives, and nothing is buffered whole.
 *
 * @returns the text fields, checked, wherever among the files they stood
 * @throws KsError `upload-too-large` past a limit, `invalid-request` for a broken or unexpected structure, or what
 *   `accept` threw
 */
export type ReceiveUpload<Fields = Record<string, unknown>> = (
  accept: (file: UploadFile) => Promise<void>,
) => Promise<Fields>

/** A multipart body that has not been read yet. */
export interface FormReader {
  receive: ReceiveUpload
  /** Reads the body where nobody has. @returns what the form said, as a digest; see FormDigest */
  digest(): Promise<string>
  /** The same of a body that was read to its end. */
  digestOfRead(): string
}

/** files that wait for their last fsync while the next ones stream in */
const CONCURRENT_FILES = 4
/** what the parser gets at a time: small files come by the dozen in a piece, each with its own streams */
const PIECE_BYTES = 16 * 1024
const MAX_FIELDS = 20
const MAX_FIELD_BYTES = 8192
const MAX_NAME_BYTES = 200
const MAX_PART_HEADERS = 20
/** what boundaries and part headers may add to the bytes of the files */
const OVERHEAD_BYTES = 1024 * 1024
const NAMELESS = 'every part of a form needs a name'
const MULTIPART_TYPE = /^multipart\/form-data\s*;.*boundary=/i

/**
 * @param digested whether the digest of the form will be asked for
 * @throws KsError `invalid-request` before anything of the body is read, when it cannot be a form
 */
export function multipartReader(
  request: Request,
  incoming: IncomingMessage | undefined,
  form: MultipartDefinition,
  limits: UploadLimits,
  digested: boolean,
): FormReader {
  const type = request.headers.get('content-type') ?? ''
  if (!MULTIPART_TYPE.test(type))
    throw new KsError(
      'invalid-request',
      `content-type must be multipart/form-data with a boundary, received ${quote(type)}`,
    )
  refuseEncodedBody(request.headers)
  const maxBytes = (form.file.many ? limits.bulkBytes : limits.uploadBytes) + OVERHEAD_BYTES
  if (Number(request.headers.get('content-length') ?? 0) > maxBytes) throw tooLarge(maxBytes - OVERHEAD_BYTES)
  let reception: Reception | undefined
  const receive: ReceiveUpload = async (accept) => {
    const opened = new Reception(openParser(type, form, limits), form, limits, accept, digested)
    reception = opened
    await opened.run(bodyStream(request, incoming), maxBytes)
    return opened.fields()
  }
  return {
    receive,
    digest: async () => {
      if (reception === undefined) await receive(({ content }) => finished(content.resume()))
      return reception?.digest() ?? ''
    },
    digestOfRead: () => reception?.digest() ?? '',
  }
}

function openParser(type: string, form: MultipartDefinition, limits: UploadLimits): Busboy {
  try {
    return busboy({
      headers: { 'content-type': type },
      preservePath: true, // folders are part of the name; the engine decides what becomes of them
      defParamCharset: 'utf8',
      limits: {
        fieldNameSize: MAX_NAME_BYTES,
        fieldSize: MAX_FIELD_BYTES,
        fields: MAX_FIELDS,
        files: form.file.many ? limits.bulkFiles : 1,
        fileSize: limits.uploadBytes + 1, // busboy calls a file cut off that just reaches its limit
        headerPairs: MAX_PART_HEADERS,
      },
    })
  } catch (error) {
    throw malformed(error)
  }
}

/** One multipart body on its way in. The first failure wins; everything that is under way is then let go. */
class Reception {
  readonly #parser: Busboy
  readonly #form: MultipartDefinition
  readonly #limits: UploadLimits
  readonly #accept: (file: UploadFile) => Promise<void>
  readonly #slots = pLimit(CONCURRENT_FILES)
  readonly #adds: Promise<void>[] = []
  readonly #texts = new Map<string, string>()
  readonly #digest: FormDigest | undefined
  readonly #failed: Promise<never>
  #fileBytes = 0
  #said: string | undefined
  #fail: (error: unknown) => void = () => {}
  #failure: { error: unknown } | undefined

  constructor(
    parser: Busboy,
    form: MultipartDefinition,
    limits: UploadLimits,
    accept: (file: UploadFile) => Promise<void>,
    digested: boolean,
  ) {
    this.#digest = digested ? new FormDigest() : undefined
    this.#parser = parser
    this.#form = form
    this.#limits = limits
    this.#accept = accept
    this.#failed = new Promise((_resolve, reject) => {
      this.#fail = (error) => {
        this.#failure ??= { error }
        reject(this.#failure.error)
      }
    })
    this.#failed.catch(() => {})
    this.#listen()
  }

  async run(source: Readable, maxBytes: number): Promise<void> {
    const pace = watchPace((slow) => this.#fail(slow))
    try {
      await Promise.race([this.#pump(source, maxBytes, pace), this.#failed])
      pace.stop()
      await Promise.race([Promise.all(this.#adds), this.#failed])
    } catch (error) {
      this.#fail(error)
      source.on('error', () => {}) // the client may hang up on what it is being told
      this.#parser.destroy()
      await Promise.allSettled(this.#adds)
      throw this.#failure?.error ?? error
    } finally {
      pace.stop()
    }
  }

  fields(): Record<string, unknown> {
    const input = Object.fromEntries(this.#texts)
    const { fields } = this.#form
    const result = fields.safeParse(input)
    if (!result.success) throw new KsError('invalid-request', refusal(result.error, fields, input, 'the form'))
    return result.data
  }

  digest(): string {
    this.#said ??= this.#digest?.digest(this.#texts) ?? ''
    return this.#said
  }

  async #pump(source: Readable, maxBytes: number, pace: Pace): Promise<void> {
    const parser = this.#parser
    const finished = once(parser, 'close')
    finished.catch(() => {})
    let size = 0
    for await (const chunk of chunksOf(source)) {
      if (this.#failure !== undefined) return
      pace.took(chunk.length)
      size += chunk.length
      if (size > maxBytes) throw tooLarge(maxBytes - OVERHEAD_BYTES)
      for (let from = 0; from < chunk.length; from += PIECE_BYTES) {
        if (from > 0) await turn()
        if (this.#failure !== undefined) return
        const piece = chunk.subarray(from, from + PIECE_BYTES)
        if (!parser.write(piece)) await pace.held(Promise.race([once(parser, 'drain'), finished]))
      }
    }
    parser.end()
    await finished
  }

  #listen(): void {
    const { name: fileField } = this.#form.file
    this.#parser
      .on('file', (name: string | undefined, stream, info) => this.#file(name, stream, info))
      .on('field', (name: string | undefined, value, info) => {
        if (name === undefined || name === '') return this.#refuse(NAMELESS)
        if (name === fileField) return this.#refuse(`the part ${quote(name)} must be a file with a filename`)
        if (info.nameTruncated || info.valueTruncated)
          return this.#refuse(`the field ${quote(name)} must be at most ${MAX_FIELD_BYTES} bytes long`)
        if (this.#texts.has(name)) return this.#refuse(`the field ${quote(name)} is given more than once`)
        this.#texts.set(name, value)
      })
      .on('filesLimit', () => this.#fail(this.#tooMany()))
      .on('fieldsLimit', () => this.#refuse(`a form must have at most ${MAX_FIELDS} text fields`))
      .on('error', (error) => this.#fail(malformed(error)))
  }

  #file(name: string | undefined, stream: Readable & { truncated?: boolean }, info: FileInfo): void {
    stream.on('error', () => {}) // told through the reception's own failure
    const filename = info.filename ?? '' // a blank is a name, too: what a file is called is for its sender to say
    if (name === undefined || name === '') this.#refuse(NAMELESS)
    else if (name !== this.#form.file.name)
      this.#refuse(`unknown file field ${quote(name)}: files go in ${quote(this.#form.file.name)}`)
    else if (filename === '') this.#refuse('a file part needs a filename')
    else if (filename.length > LIMITS.filename)
      this.#refuse(
        `a filename must be at most ${LIMITS.filename} characters long, received ${filename.length} characters`,
      )
    if (this.#failure !== undefined) {
      stream.resume()
      return
    }
    stream.on('limit', () => {
      const error = tooLarge(this.#limits.uploadBytes)
      this.#fail(error)
      stream.destroy(error)
    })
    const content = this.#watched(stream, this.#digest?.file(name ?? '', filename, info.mimeType))
    const add = this.#slots(() => this.#accept({ filename, mimeType: info.mimeType, content }))
    add.catch((error: unknown) => this.#fail(error))
    this.#adds.push(add)
  }

  /** The same bytes, up to what all files of the upload may hold together, and hashed on their way where asked. */
  #watched(stream: Readable, hash: Hash | undefined): Readable {
    if (!this.#form.file.many && hash === undefined) return stream
    const bulkBytes = this.#form.file.many ? this.#limits.bulkBytes : Number.POSITIVE_INFINITY
    const counter = new Transform({
      transform: (chunk: Buffer, _encoding, done) => {
        this.#fileBytes += chunk.length
        hash?.update(chunk)
        if (this.#fileBytes > bulkBytes) done(tooLarge(bulkBytes))
        else done(null, chunk)
      },
    })
    // not `pipeline`, which makes an AbortController and an error of each file: half of what a small file costs
    stream.on('error', (error) => counter.destroy(error))
    counter.on('close', () => stream.readableEnded || stream.destroy())
    counter.on('error', () => {}) // told to whoever reads it; a file that waits for its turn is read by nobody yet
    return stream.pipe(counter)
  }

  #tooMany(): KsError {
    return this.#form.file.many
      ? new KsError('upload-too-large', `one upload must hold at most ${this.#limits.bulkFiles} files`)
      : new KsError('invalid-request', 'exactly one file must be given')
  }

  #refuse(sentence: string): void {
    this.#fail(new KsError('invalid-request', sentence))
  }
}

function tooLarge(limit: number): KsError {
  return new KsError('upload-too-large', `an upload must be at most ${limit} bytes long`)
}

function malformed(cause: unknown): KsError {
  const reason = cause instanceof Error ? cause.message : 'unknown reason'
  return new KsError('invalid-request', `the multipart body is malformed: ${reason}`, { cause })
}
