/** Turns bytes of a file into a compiled document, in processes of its own. */

export { decodeText, findHeaderCharset } from './charset.js'
export { forkReader } from './child-handle.js'
export { createCompiler } from './compiler.js'
export { withConverters } from './convert/with-converters.js'
export { countCharacters, getNodeLength } from './document-parts.js'
export { createDrawer, type Drawer } from './draw/drawer.js'
export { MAX_DPI, MAX_DRAWN_PIXELS } from './draw/limits.js'
export type { PageMarks, PreviewImage } from './draw/messages.js'
export { collapseSpaces } from './elements.js'
export { isDisplayablePicture } from './items.js'
export { DEFAULT_LIMITS, formatByteCount } from './limits.js'
export type { TargetText } from './marks/find-text.js'
export { markPicture } from './marks/mark-page.js'
export { type Attributes, readMarkup } from './markup/markup-events.js'
export { disableNetwork } from './no-network.js'
export { FIRST_BUDGET_MS } from './ocr/budget.js'
export { OCR_ENGINE, parsePage, parsePages } from './ocr/pages.js'
export { MAX_DESCRIPTION_LENGTH } from './picture/describe.js'
export { hashDrawnPicture } from './picture/key.js'
export {
  hashTextParts,
  readElementTexts,
  readStoredElements,
  readStoredItems,
  readStoredSections,
  readStoredText,
  type SectionFields,
  walkJson,
  walkSections,
} from './read-stored.js'
export { getRecordingEnding, isRecording } from './recording.js'
export { POINTS_PER_INCH } from './render/points.js'
export { buildItemName, STORED_LIMITS, type StoredArtifact, type StoredItem, type StoredPart } from './stored-parts.js'
export { joinTableParts, type TableCells, toTableCells } from './tables/cells.js'
export { isNumeric } from './tables/figures.js'
export { formatTable, isTableFormat, TABLE_FORMATS, type TableFormat } from './tables/formats.js'
export { looksLikeHeader } from './tables.js'
