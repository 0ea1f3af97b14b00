import { omitUndefined } from '../../lib/omit-undefined.js'
import type { CompiledDocument, CompileRequest, CompileResult } from '../store/compiled.js'
import { markCaptions } from './captions.js'
import { decodeText } from './charset.js'
import { buildDocumentFields } from './document-fields.js'
import { type AssembledDocument, assembleDocument } from './elements.js'
import { ContainedFileCollector, type FileSink } from './inside/contained-files.js'
import { isDisplayablePicture, listItems } from './items.js'
import { ReadError, type ReadLimits } from './limits.js'
import type { ReadRequest } from './messages.js'
import { splitIntoNodes } from './nodes.js'
import { DEFAULT_OCR, OcrBudget } from './ocr/budget.js'
import type { ParsedDocument, ParserInput } from './parsed.js'
import { attachShownItems } from './picture/shown.js'
import type { PixelSize } from './picture/size.js'
import { prepareDocument } from './prepare.js'
import { loadRecordingParser } from './recording.js'
import { loadParser } from './registry.js'
import { looksLikeText, sniffBytes, sniffText } from './sniff.js'
import { warnOfUnreadWords } from './unread/unread-words.js'
import { createUnsupportedError } from './unsupported-types.js'

/**
 * Reads one file and compiles it to a document. Never throws: a file that cannot be read is a failure with its reason.
 *
 * @param fetch returns its bytes
 * @param sink receives the contained files, where the request has a depth
 */
export async function readDocument(
  fetch: () => Promise<Buffer>,
  request: ReadRequest,
  limits: ReadLimits,
  sink?: FileSink,
): Promise<CompileResult> {
  try {
    const bytes = await readBytes(fetch, request)
    return { ok: true, document: await prepareDocument(await compileBytes(bytes, request, limits, sink)) }
  } catch (error) {
    if (error instanceof ReadError) {
      const { code, message, mediaType } = error
      return { ok: false, failure: { code, message, ...omitUndefined({ mediaType }) } }
    }
    const detail = error instanceof Error ? error.message : String(error)
    const message = `${request.filename} could not be read: ${detail.slice(0, 200)}`
    return { ok: false, failure: { code: 'malformed', message } }
  }
}

/**
 * Compiles bytes in memory to a document.
 *
 * @param sink see `readDocument`
 * @throws ReadError when they cannot be read, or have no text where the document needs some
 */
export async function compileBytes(
  bytes: Buffer,
  request: ReadRequest,
  limits: ReadLimits,
  sink?: FileSink,
): Promise<CompiledDocument> {
  try {
    return await compileText(bytes, request, limits, sink)
  } catch (error) {
    if (request.mayBeEmpty !== true || !(error instanceof ReadError) || error.code !== 'empty') throw error
    return compileWithoutText(request, error.message)
  }
}

/** The document of a file that lost its text: it has no passages, and a warning that states why. */
function compileWithoutText({ filename, declaredType }: ReadRequest, reason: string): CompiledDocument {
  const parsed: ParsedDocument = { parser: 'unstructured', contentType: 'text', blocks: [], metadata: {} }
  const { title, text, elements, outline } = assembleDocument(parsed, filename)
  const { parser, contentType } = parsed
  const [mediaType, metadata] = [sniffText('', filename, declaredType), { warnings: [reason] }]
  return {
    contentType,
    parser,
    title,
    mediaType,
    text,
    elements,
    outline,
    nodes: [],
    items: [],
    metadata,
    recognised: [],
  }
}

async function compileText(
  bytes: Buffer,
  request: ReadRequest,
  limits: ReadLimits,
  sink: FileSink | undefined,
): Promise<CompiledDocument> {
  const { filename, depth } = request
  if (bytes.length === 0) throw new ReadError('empty', `${filename} is empty`)
  const containedFiles = new ContainedFileCollector(
    filename,
    limits,
    sink === undefined || depth === undefined ? undefined : { depth, sink },
  )
  const input = { ...buildParserInput(bytes, request, limits), inside: containedFiles }
  const parser = (await loadRecordingParser(input, request)) ?? (await loadParser(input.mediaType))
  if (parser === undefined) throw createUnsupportedError(filename, input.mediaType)
  const parsed = await parser.parse(input)
  const hasPictures = parsed.blocks.some(({ picture }) => picture !== undefined && !('uri' in picture))
  const recognised =
    hasPictures && !input.mediaType.startsWith('image/') ? await recognizePictures(parsed, input, request) : []
  if (request.descriptions !== undefined) {
    const { describePictures } = await import('./picture/describe.js')
    describePictures(parsed, request.descriptions, bytes)
  }
  markCaptions(parsed.blocks)
  const assembled = assembleDocument(parsed, filename)
  if (assembled.text === '')
    throw new ReadError('empty', `${filename} has no text${hasPictures ? ', only pictures' : ''}`)
  const language = parsed.language ?? detectLanguageByScript(assembled.text)
  const items = listItems(assembled, {
    readSize: await loadPictureSizer(assembled),
    canDrawPages: input.mediaType === 'application/pdf',
  })
  const nodes = splitIntoNodes(assembled)
  attachShownItems(nodes, assembled.elements, items)
  const pictures = items.filter(isDisplayablePicture).length
  const fileNames = containedFiles.files.map(({ name }) => name)
  const unread = await warnOfUnreadWords(input, { ...parsed, ...assembled, fileNames })
  return {
    contentType: getContentType(parsed),
    parser: parsed.parser,
    title: assembled.title,
    mediaType: parsed.mediaType ?? input.mediaType,
    ...omitUndefined({ language }),
    text: assembled.text,
    elements: assembled.elements,
    outline: assembled.outline,
    nodes,
    items,
    metadata: {
      ...parsed.metadata,
      ...buildDocumentFields(parsed, { filename, text: assembled.text }),
      ...(pictures === 0 ? {} : { pictures }),
      ...(unread === undefined ? {} : { warnings: [...listWarnings(parsed), unread] }),
    },
    ...(containedFiles.files.length === 0 ? {} : { contained: containedFiles.files }),
    recognised: [...input.ocr.fresh, ...recognised],
  }
}

/** Recognizes the text in the pictures of a document; the code is loaded with the first document that has some. */
async function recognizePictures(
  parsed: ParsedDocument,
  input: ParserInput,
  { ocr = DEFAULT_OCR }: Pick<CompileRequest, 'ocr'>,
) {
  const { recognisePicturesInside } = await import('./ocr/pictures-inside.js')
  return await recognisePicturesInside(parsed, input, ocr)
}

/** The function that reads the size of a picture in pixels; its code is loaded for documents that have some. */
async function loadPictureSizer({
  pictures,
}: AssembledDocument): Promise<(bytes: Uint8Array) => PixelSize | undefined> {
  for (const picture of pictures.values())
    if ('bytes' in picture) return (await import('./picture/size.js')).readPixelSize
  return () => undefined
}

async function readBytes(fetch: () => Promise<Buffer>, { filename }: ReadRequest): Promise<Buffer> {
  try {
    return await fetch()
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? String(error.code) : 'unknown error'
    if (code === 'ENOTFILE') throw new ReadError('malformed', `${filename} is not a regular file`, { cause: error })
    throw new ReadError('malformed', `${filename} cannot be opened: ${code}`, { cause: error })
  }
}

function buildParserInput(
  bytes: Buffer,
  request: Pick<CompileRequest, 'filename' | 'declaredType' | 'declaredCharset' | 'ocr'>,
  limits: ReadLimits,
): Omit<ParserInput, 'inside'> {
  const { filename } = request
  const ocr = new OcrBudget(request.ocr ?? DEFAULT_OCR)
  const binaryType = sniffBytes(bytes)
  if (binaryType !== undefined)
    return { filename, bytes, mediaType: binaryType, text: () => bytes.toString('latin1'), limits, ocr }
  const { text } = decodeText(bytes, request.declaredCharset)
  const mediaType = looksLikeText(text) ? sniffText(text, filename, request.declaredType) : 'application/octet-stream'
  return { filename, bytes, mediaType, text: () => text, limits, ocr }
}

function listWarnings({ metadata }: ParsedDocument): unknown[] {
  return Array.isArray(metadata.warnings) ? metadata.warnings : []
}

function getContentType(parsed: ParsedDocument): CompiledDocument['contentType'] {
  if (parsed.contentType === 'structured') return 'structured'
  return parsed.blocks.some((block) => block.type === 'table' || block.type === 'image') ? 'mixed' : 'text'
}

/** The language, where the script alone determines it: Kana is Japanese, Hangul Korean, Han without either Chinese. */
function detectLanguageByScript(text: string): string | undefined {
  const sample = text.slice(0, 2000)
  const count = (pattern: RegExp): number => sample.match(pattern)?.length ?? 0
  const han = /[\u4e00-\u9fff]/.test(sample) ? count(/[\u4e00-\u9fff]/g) : 0
  const kana = count(/[\u3041-\u30ff]/g)
  const hangul = count(/[\uac00-\ud7af]/g)
  const minCount = sample.length * 0.1
  if (kana + han > minCount && kana > han * 0.1) return 'ja'
  if (hangul > minCount) return 'ko'
  return han > minCount ? 'zh' : undefined
}
