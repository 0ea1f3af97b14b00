import type { Hash } from 'node:crypto'
import type { IncomingMessage } from 'node:http'
import type { Readable } from 'node:stream'
import { finished } from 'node:stream/promises'
import type { FieldInfo, FileInfo } from 'busboy'
import pLimit from 'p-limit'
import { KsError } from '../../contract/errors.js'
import { quoteClipped } from '../../contract/issues.js'
import { LIMITS } from '../../contract/limits.js'
import type { MultipartDefinition } from '../../contract/route.js'
import type { UploadFile } from '../../engine/base/upload.js'
import { type FormBounds, type FormParts, openForm } from '../http/form.js'
import { FormDigest } from '../http/form-digest.js'
import { parseValue } from '../http/query.js'

export interface UploadLimits {
  uploadBytes: number
  bulkFiles: number
  bulkBytes: number
}

type AcceptFile = (file: UploadFile) => Promise<void>

/**
 * Streams the parts of a multipart body: each file is passed to `accept` as it arrives, and nothing is buffered
 * completely.
 *
 * @returns the validated text fields, wherever they are among the files
 * @throws KsError `upload-too-large` above a limit, `invalid-request` for a malformed or unexpected structure, or the
 * error of `accept`
 */
export type ReceiveUpload<Fields = Record<string, unknown>> = (accept: AcceptFile) => Promise<Fields>

/** A multipart body that has not been read yet. */
export interface FormReader {
  receive: ReceiveUpload<unknown>
  /**
   * Reads the body if it was not read yet.
   * @returns a digest of the form; see FormDigest
   */
  digest(): Promise<string>
  /** The digest of a body that was read completely; '' before that, or if no digest was requested. */
  getDigest(): string
}

/** Files that wait for their last fsync while the next ones arrive. */
const CONCURRENT_FILES = 4
const MAX_FIELDS = 20
const MAX_FIELD_BYTES = 8192
const MISSING_NAME_TEXT = 'every part of a form needs a name'

/**
 * @param options limits of files that become documents; whether the digest of the form will be requested
 * @throws KsError `invalid-request` before the body is read, if it cannot be a form
 */
export function createUploadForm(
  request: Request,
  incoming: IncomingMessage | undefined,
  form: MultipartDefinition,
  { documents, needsDigest }: { documents: UploadLimits; needsDigest: boolean },
): FormReader {
  const limits = form.maxBytes === undefined ? documents : { ...documents, uploadBytes: form.maxBytes }
  const readParts = openForm(request, incoming, toBounds(form, limits))
  let parts: UploadParts | undefined
  const receive: FormReader['receive'] = async (accept) => {
    parts = new UploadParts({ form, limits, accept, needsDigest })
    await readParts(parts)
    return parseValue(form.fields, Object.fromEntries(parts.texts), 'the form')
  }
  const getDigest = () => parts?.digest() ?? ''
  return {
    receive,
    digest: async () => {
      if (parts === undefined) await receive(({ content }) => finished(content.resume()))
      return getDigest()
    },
    getDigest,
  }
}

function toBounds({ file: { many } }: MultipartDefinition, limits: UploadLimits): FormBounds {
  const { uploadBytes, bulkFiles, bulkBytes } = limits
  const maxBytes = many ? bulkBytes : uploadBytes
  return {
    maxBytes,
    limits: {
      fieldSize: MAX_FIELD_BYTES,
      fields: MAX_FIELDS,
      files: many ? bulkFiles : 1,
      fileSize: uploadBytes + 1, // busboy treats a file of exactly the limit as truncated.
    },
    notForm: (type) =>
      createInvalidForm(`content-type must be multipart/form-data with a boundary, received ${quoteClipped(type)}`),
    tooLarge: () => createTooLarge(maxBytes),
    tooMany: (kind) => {
      if (kind !== 'files') return createInvalidForm(`a form must have at most ${MAX_FIELDS} text fields`)
      if (!many) return createInvalidForm('exactly one file must be given')
      return new KsError('upload-too-large', `one upload must contain at most ${bulkFiles} files`)
    },
    malformed: (reason, cause) => createInvalidForm(`the multipart body is malformed: ${reason}`, cause),
  }
}

/** The parts of one upload as they arrive. */
class UploadParts implements FormParts {
  readonly texts = new Map<string, string>()
  readonly #form: MultipartDefinition
  readonly #limits: UploadLimits
  readonly #accept: AcceptFile
  readonly #slots = pLimit(CONCURRENT_FILES)
  readonly #digest: FormDigest | undefined
  #fileBytes = 0
  #digestText: string | undefined

  constructor(options: { form: MultipartDefinition; limits: UploadLimits; accept: AcceptFile; needsDigest: boolean }) {
    this.#form = options.form
    this.#limits = options.limits
    this.#accept = options.accept
    this.#digest = options.needsDigest ? new FormDigest() : undefined
  }

  digest(): string {
    this.#digestText ??= this.#digest?.digest(this.texts) ?? ''
    return this.#digestText
  }

  field(name: string | undefined, value: string, { nameTruncated, valueTruncated }: FieldInfo): void {
    if (name === undefined || name === '') throw createInvalidForm(MISSING_NAME_TEXT)
    if (name === this.#form.file.name)
      throw createInvalidForm(`the part ${quoteClipped(name)} must be a file with a filename`)
    if (nameTruncated || valueTruncated)
      throw createInvalidForm(`the field ${quoteClipped(name)} must be at most ${MAX_FIELD_BYTES} bytes long`)
    if (this.texts.has(name)) throw createInvalidForm(`the field ${quoteClipped(name)} is given more than once`)
    this.texts.set(name, value)
  }

  file(name: string | undefined, stream: Readable, info: FileInfo, fail: (error: unknown) => void): Promise<void> {
    const field = this.#form.file.name
    const filename = info.filename ?? '' // A blank is a valid name: senders choose file names.
    if (name === undefined || name === '') throw createInvalidForm(MISSING_NAME_TEXT)
    if (name !== field)
      throw createInvalidForm(`unknown file field ${quoteClipped(name)}: files go in ${quoteClipped(field)}`)
    if (filename === '') throw createInvalidForm('a file part needs a filename')
    if (filename.length > LIMITS.filename)
      throw createInvalidForm(
        `a filename must be at most ${LIMITS.filename} characters long, received ${filename.length} characters`,
      )
    stream.on('limit', () => {
      const error = createTooLarge(this.#limits.uploadBytes)
      fail(error)
      stream.destroy(error)
    })
    this.#watch(stream, this.#digest?.file(name, filename, info.mimeType), fail)
    return this.#slots(() => this.#accept({ filename, mimeType: info.mimeType, content: stream }))
  }

  /**
   * Counts bytes against the limit of all files of the upload, and hashes them if needed, as the parser emits them: a
   * separate stream would cost more than all other work on a small file.
   */
  #watch(stream: Readable, hash: Hash | undefined, fail: (error: unknown) => void): void {
    const bulkBytes = this.#form.file.many ? this.#limits.bulkBytes : Number.POSITIVE_INFINITY
    const push = stream.push.bind(stream)
    stream.push = (chunk: Buffer | null, encoding?: BufferEncoding) => {
      if (chunk === null) return push(chunk, encoding)
      this.#fileBytes += chunk.length
      hash?.update(chunk)
      if (this.#fileBytes <= bulkBytes) return push(chunk, encoding)
      const error = createTooLarge(bulkBytes)
      fail(error)
      stream.destroy(error)
      return false
    }
  }
}

function createInvalidForm(sentence: string, cause?: unknown): KsError {
  return new KsError('invalid-request', sentence, { cause })
}

function createTooLarge(limit: number): KsError {
  return new KsError('upload-too-large', `an upload must be at most ${limit} bytes long`)
}
