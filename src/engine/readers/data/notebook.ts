import { isRecord } from '../../../lib/json/values.js'
import { omitUndefined } from '../../../lib/omit-undefined.js'
import { pluralize } from '../../../lib/text/pluralize.js'
import { ReadError } from '../limits.js'
import { readHtml } from '../markup/html.js'
import type { Block, ParsedDocument, Parser, ParserInput } from '../parsed.js'
import { parsePictureSource } from '../pictures.js'
import { parseMarkdown } from '../text/markdown.js'

/** Maximum length of the output of a cell, from its beginning. */
const MAX_OUTPUT_LENGTH = 4000
const MAX_CELLS = 50_000
/** Maximum number of outputs of a cell. */
const MAX_OUTPUTS = 200
const PICTURE_TYPES = ['image/png', 'image/jpeg', 'image/gif', 'image/webp']

/** Reads Jupyter notebooks: Markdown cells, code with its language, text outputs, pictures. */
export const notebookParser: Parser = {
  parse: parseNotebook,
}

function parseNotebook(input: ParserInput): ParsedDocument {
  const { filename } = input
  const notebook = readJson(input.text(), filename)
  const cells = listCells(notebook)
  const metadata = isRecord(notebook.metadata) ? notebook.metadata : {}
  const language = findLanguage(metadata)
  const loss: NotebookLoss = { cells: Math.max(0, cells.length - MAX_CELLS), outputs: 0 }
  const blocks = cells
    .slice(0, MAX_CELLS)
    .flatMap((cell, index) => toCellBlocks(cell, { language, number: index + 1, loss }))
  if (!blocks.some((block) => block.text !== '')) throw new ReadError('empty', `${filename} has no text`)
  return {
    parser: 'native-structured',
    contentType: 'text',
    ...omitUndefined({ title: typeof metadata.title === 'string' ? metadata.title : undefined }),
    blocks,
    metadata: {
      cellCount: cells.length,
      programmingLanguage: language,
      ...omitUndefined({ authors: findAuthors(metadata) }),
      ...toLossWarnings(loss),
    },
  }
}

/** Numbers of cells that are left out, and of outputs that are left out or cut. */
interface NotebookLoss {
  cells: number
  outputs: number
}

function toLossWarnings({ cells, outputs }: NotebookLoss): { warnings?: string[] } {
  const lost = [
    ...(cells === 0 ? [] : [pluralize(cells, 'cell')]),
    ...(outputs === 0 ? [] : [pluralize(outputs, 'output')]),
  ]
  return lost.length === 0 ? {} : { warnings: [`left out or cut: ${lost.join(', ')}`] }
}

function readJson(text: string, filename: string): Record<string, unknown> {
  try {
    const value: unknown = JSON.parse(text)
    if (isRecord(value)) return value
  } catch (error) {
    throw new ReadError('malformed', `${filename} is not a readable notebook: its JSON is damaged`, { cause: error })
  }
  throw new ReadError('malformed', `${filename} is not a readable notebook`)
}

/** Lists the cells; notebooks before version 4 keep them in worksheets. */
function listCells(notebook: Record<string, unknown>): Record<string, unknown>[] {
  const sheets = Array.isArray(notebook.worksheets) ? notebook.worksheets.filter(isRecord) : []
  const lists = [notebook.cells, ...sheets.map((sheet) => sheet.cells)]
  return lists.flatMap((list) => (Array.isArray(list) ? list.filter(isRecord) : []))
}

function findLanguage(metadata: Record<string, unknown>): string {
  for (const languageSource of [metadata.language_info, metadata.kernelspec]) {
    const name = isRecord(languageSource) ? (languageSource.language ?? languageSource.name) : undefined
    if (typeof name === 'string' && name !== '') return name.toLowerCase()
  }
  return 'python'
}

function findAuthors(metadata: Record<string, unknown>): string[] | undefined {
  const { authors } = metadata
  if (!Array.isArray(authors)) return undefined
  const names = authors.flatMap((author) => (isRecord(author) && typeof author.name === 'string' ? [author.name] : []))
  return names.length === 0 ? undefined : names
}

function toCellBlocks(
  cell: Record<string, unknown>,
  { language, number, loss }: { language: string; number: number; loss: NotebookLoss },
): Block[] {
  const source = joinText(cell.source ?? cell.input)
  const addCellNumber = (block: Block): Block => ({ ...block, metadata: { ...block.metadata, cell: number } })
  if (cell.cell_type === 'markdown') return parseMarkdown(source).blocks.map(addCellNumber)
  if (cell.cell_type === 'heading' && typeof cell.level === 'number')
    return [addCellNumber({ type: 'heading', text: source, level: Math.max(1, Math.min(cell.level, 6)) })]
  if (cell.cell_type !== 'code') return source.trim() === '' ? [] : [addCellNumber({ type: 'paragraph', text: source })]
  const allOutputs = Array.isArray(cell.outputs) ? cell.outputs.filter(isRecord) : []
  const outputs = allOutputs.slice(0, MAX_OUTPUTS)
  loss.outputs += allOutputs.length - outputs.length
  const code: Block[] = source.trim() === '' ? [] : [{ type: 'code', text: source, metadata: { language } }]
  return [...code, ...outputs.flatMap((output) => toOutputBlocks(output, loss))].map(addCellNumber)
}

/** The best form of an output: a picture with its text, a table, text; errors by name and message. */
function toOutputBlocks(output: Record<string, unknown>, loss: NotebookLoss): Block[] {
  if (output.output_type === 'error' || output.output_type === 'pyerr') {
    const text = [output.ename, output.evalue].filter((part) => typeof part === 'string').join(': ')
    return text === '' ? [] : [toOutputBlock(text, loss)]
  }
  const data = isRecord(output.data) ? output.data : output
  const plain = joinText(data['text/plain'] ?? output.text)
  for (const type of PICTURE_TYPES) {
    const bytes = data[type] ?? data[type.replace('image/', '')]
    const picture = bytes === undefined ? undefined : parsePictureSource(`data:${type};base64,${joinText(bytes)}`)
    // `<Figure size 640x480 with 1 Axes>` has no content.
    const words = /^<[\w.]{1,60}[^<>]{0,200}>$/.test(plain.trim()) ? '' : plain.slice(0, MAX_OUTPUT_LENGTH)
    if (picture !== undefined) return [{ type: 'image', text: words, picture }]
  }
  const html = joinText(data['text/html'])
  if (/<table[\s>]/i.test(html.slice(0, MAX_OUTPUT_LENGTH * 50))) {
    const tables = readHtml(html.slice(0, MAX_OUTPUT_LENGTH * 50)).blocks.filter((block) => block.type === 'table')
    if (tables.length > 0) return tables.map((block) => ({ ...block, metadata: { ...block.metadata, role: 'output' } }))
  }
  const markdown = joinText(data['text/markdown'])
  if (markdown !== '')
    return parseMarkdown(markdown.slice(0, MAX_OUTPUT_LENGTH)).blocks.filter((block) => block.type !== 'heading')
  if (plain.trim() !== '') return [toOutputBlock(plain, loss)]
  const latex = joinText(data['text/latex'])
  if (latex !== '') return [toOutputBlock(latex, loss)]
  const text = readHtml(html.slice(0, MAX_OUTPUT_LENGTH * 50)).blocks.map((block) => block.text)
  return text.length === 0 ? [] : [toOutputBlock(text.join('\n'), loss)]
}

function toOutputBlock(text: string, loss: NotebookLoss): Block {
  const clean = text.replace(/\u001b\[[\d;]{0,20}[A-Za-z]/g, '')
  if (clean.length > MAX_OUTPUT_LENGTH) loss.outputs++
  const cut = clean.length > MAX_OUTPUT_LENGTH ? `${clean.slice(0, MAX_OUTPUT_LENGTH)}…` : clean
  return { type: 'code', text: cut, metadata: { role: 'output' } }
}

/** Joins a text that is stored as one string or as a list of lines. */
function joinText(value: unknown): string {
  if (typeof value === 'string') return value
  return Array.isArray(value) ? value.filter((line) => typeof line === 'string').join('') : ''
}
