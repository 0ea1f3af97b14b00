import type { IncomingMessage } from 'node:http'
import { ChatError, invalidParam } from '../../contract/chat/errors.js'
import type { UploadFile } from '../../engine/base/upload.js'
import { type FormBounds, type FormParts, openForm } from '../http/form.js'

export type FormFile = Required<Pick<UploadFile, 'filename' | 'mimeType' | 'content'>>

/** What a form of the chat service may hold, and the words for what it lacks. */
export interface FormRules {
  /** name of the one file part; none are taken where absent */
  file?: {
    name: string
    maxBytes: number
    /** @param file named as the client wrote it, '' where it did not */
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
/** what a part head says of a file without a name */
const EMPTY_NAME = 'filename=""'

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
  const { file, missing } = rules
  const fields = new Map<string, string>()
  let files = 0
  let isUnnamed = false
  const parts: FormParts = {
    // the parser takes a file with an empty name for a field
    raw: (chunk) => {
      isUnnamed ||= chunk.includes(EMPTY_NAME)
    },
    file: (name, content, { filename = '', mimeType }) => {
      if (file === undefined || name !== file.name) return undefined
      if (files++ > 0) throw new ChatError('too_many_files', 'Only one file is allowed.')
      return file.accept({ filename, mimeType, content })
    },
    field: (name, value, { valueTruncated }) => {
      if (name === undefined || name === file?.name) return
      if (valueTruncated) throw invalidParam(name.slice(0, 100), `a field has at most ${rules.maxFieldBytes} bytes`)
      fields.set(name, value)
    },
  }
  await openForm(request, incoming, boundsOf(rules))(parts)
  if (file !== undefined && files === 0) throw isUnnamed ? (file.unnamed ?? missing)() : missing()
  return Object.fromEntries(fields)
}

function boundsOf({ file, maxFieldBytes, missing, tooLarge }: FormRules): FormBounds {
  const maxBytes = file?.maxBytes ?? 0
  const limits = { fieldSize: maxFieldBytes, fields: MAX_FIELDS, parts: MAX_PARTS }
  return {
    maxBytes,
    // what takes the file counts its bytes; this only ends what goes on for ever
    limits: { ...limits, fileSize: maxBytes + 1 },
    notForm: missing,
    tooLarge,
    tooMany: (kind) =>
      new ChatError('bad_request', `a form has at most ${kind === 'parts' ? MAX_PARTS : MAX_FIELDS} ${kind}`),
    malformed: (reason) => new ChatError('bad_request', `The form cannot be read: ${reason}`),
  }
}
