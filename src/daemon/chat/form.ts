import type { IncomingMessage } from 'node:http'
import { ChatError, invalidParamError } from '../../contract/chat/errors.js'
import type { UploadFile } from '../../engine/base/upload.js'
import { type FormBounds, type FormParts, openForm } from '../http/form.js'

export type ReceivedFormFile = Required<Pick<UploadFile, 'filename' | 'mimeType' | 'content'>>

/** Limits of a form of the chat service, and the errors for missing parts. */
export interface ChatFormRules {
  /** Name of the only file part; absent: no file is accepted. */
  file?: {
    name: string
    maxBytes: number
    /** @param file with the file name from the client, '' if missing */
    accept(file: ReceivedFormFile): Promise<void>
    /** Error for a file with an empty name; absent: such a file counts as missing. */
    unnamed?(): ChatError
  }
  maxFieldBytes: number
  /** Error for a form without the file, and for a body that is not a form. */
  missing(): ChatError
  tooLarge(): ChatError
}

const MAX_FIELDS = 50
const MAX_PARTS = 60
/** Header parameter of a file part with an empty name. */
const EMPTY_FILENAME_PARAMETER = 'filename=""'

/**
 * Reads a form of the chat service as it arrives, its parts in any order. Files under other names are skipped, because
 * clients may send any.
 *
 * @returns the text fields
 * @throws ChatError, KsError for an unreadable body, or the error of `accept`
 */
export async function readChatForm(
  request: Request,
  incoming: IncomingMessage | undefined,
  rules: ChatFormRules,
): Promise<Record<string, string>> {
  const { file, missing } = rules
  const fields = new Map<string, string>()
  let fileCount = 0
  let isUnnamed = false
  const parts: FormParts = {
    // The parser treats a file with an empty name as a field.
    raw: (chunk) => {
      isUnnamed ||= chunk.includes(EMPTY_FILENAME_PARAMETER)
    },
    file: (name, content, { filename = '', mimeType }) => {
      if (file === undefined || name !== file.name) return undefined
      if (fileCount++ > 0) throw new ChatError('too_many_files', 'Only one file is allowed.')
      return file.accept({ filename, mimeType, content })
    },
    field: (name, value, { valueTruncated }) => {
      if (name === undefined || name === file?.name) return
      if (valueTruncated)
        throw invalidParamError(name.slice(0, 100), `a field has at most ${rules.maxFieldBytes} bytes`)
      fields.set(name, value)
    },
  }
  await openForm(request, incoming, toBounds(rules))(parts)
  if (file !== undefined && fileCount === 0) throw isUnnamed ? (file.unnamed ?? missing)() : missing()
  return Object.fromEntries(fields)
}

function toBounds({ file, maxFieldBytes, missing, tooLarge }: ChatFormRules): FormBounds {
  const maxBytes = file?.maxBytes ?? 0
  const limits = { fieldSize: maxFieldBytes, fields: MAX_FIELDS, parts: MAX_PARTS }
  return {
    maxBytes,
    // The receiver of the file counts its bytes; this limit only ends endless bodies.
    limits: { ...limits, fileSize: maxBytes + 1 },
    notForm: missing,
    tooLarge,
    tooMany: (kind) =>
      new ChatError('bad_request', `a form has at most ${kind === 'parts' ? MAX_PARTS : MAX_FIELDS} ${kind}`),
    malformed: (reason) => new ChatError('bad_request', `The form cannot be read: ${reason}`),
  }
}
