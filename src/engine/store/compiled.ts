import type { OcrRequest, RecognisedPage } from './recognised-pages.js'

/** Result of parsing one file: plain data without ids of the store, so that it can cross a process boundary. */

export type ElementType = 'title' | 'heading' | 'paragraph' | 'table' | 'list' | 'image' | 'code' | 'page-break'

/** An element of the parser's output, in reading order. */
export interface CompiledElement {
  /** stable within the artifact: `e1`, `e2`, … */
  id: string
  type: ElementType
  text?: string
  /** 1-based page of the source file, where it has pages */
  pageNumber?: number
  /** titles of the enclosing sections, outermost first */
  sectionPath: string[]
  /** `level` for headings; `startOffset`/`endOffset` (UTF-16 units in the document text) for elements with text */
  metadata: Record<string, unknown>
}

export interface CompiledOutlineNode {
  /** stable within the outline: `s1`, `s1.2`, … */
  id: string
  title: string
  /** 1 for a top section */
  level: number
  /** origin of the section: `heading`, `bookmark` (the file's own outline), `page`, `document`, `key` */
  tocSource: string
  sectionPath: string[]
  children: CompiledOutlineNode[]
  sourceElementIds: string[]
  startOffset?: number
  endOffset?: number
  startPage?: number
  endPage?: number
  summary?: string
}

/** A node: what retrieval returns. */
export interface CompiledNode {
  /** 0-based index in reading order */
  ordinal: number
  /** document title and heading path, joined with ` › ` */
  title: string
  text: string
  sectionPath: string[]
  outlineNodeId: string
  sourceElementIds: string[]
  /** UTF-16 offsets into the document text */
  startOffset: number
  endOffset: number
  pageNumber?: number
  kind: 'text' | 'table' | 'code' | 'list' | 'image'
  /** the tables, pictures and code blocks that it consists of; absent = none */
  shows?: ShownItem[]
}

/** An item as a node refers to it, so that a citation can name and locate it. */
export interface ShownItem {
  /** see `itemName` */
  id: string
  modality: 'code' | 'image' | 'table'
  pageNumber?: number
  boundingBox?: BoundingBox
  /** its bytes are stored or it can be drawn, so it can be displayed */
  isStored?: true
  /** OCR confidence in percent, where the node contains text recognized in the item */
  ocr?: number
}

/** A box on a page, in points from its top left corner. */
export interface BoundingBox {
  x: number
  y: number
  width: number
  height: number
}

export interface CompiledItem {
  parseElementId: string
  /** the element that contains the caption */
  captionElementId?: string
  modality: 'code' | 'image' | 'page' | 'table'
  title?: string
  caption?: string
  textPreview?: string
  /** text recognized in a picture */
  ocrText?: string
  pageNumber?: number
  /** box in points from the top left corner of the page as it is displayed */
  boundingBox?: BoundingBox
  sectionPath: string[]
  startOffset?: number
  endOffset?: number
  sourceMetadata: Record<string, unknown>
  /** bytes of the item, where the file contains them (an embedded image) */
  asset?: { contentType: string; bytes: Uint8Array }
  /** address of a picture that the document only refers to */
  externalUri?: string
  /** a page, or something on a page, that is drawn on request */
  drawn?: true
}

export interface CompiledDocument {
  contentType: 'text' | 'structured' | 'mixed'
  parser: 'native-markdown' | 'native-html' | 'native-structured' | 'unstructured'
  /** the document's own title, or its file name without ending */
  title: string
  /** media type, detected from the content */
  mediaType: string
  language?: string
  /** texts of the elements joined with a blank line; all offsets refer to it */
  text: string
  elements: CompiledElement[]
  outline: CompiledOutlineNode[]
  nodes: CompiledNode[]
  items: CompiledItem[]
  metadata: Record<string, unknown>
  /** contained documents; absent where there are none */
  contained?: ContainedFile[]
  /** pages and pictures recognized in this run, to be kept for the next one */
  recognised: RecognisedPage[]
}

/** A contained file: an attachment of a mail, a file of an archive. */
export interface ContainedFile {
  /** unique path below the container, which it cannot leave */
  name: string
  /** as its container declares it */
  mediaType?: string
  sha256: string
  size: number
}

/** Why a file could not be read: one sentence for people and a stable code. */
export interface CompileFailure {
  code: 'unsupported-type' | 'encrypted' | 'malformed' | 'empty' | 'limit-exceeded' | 'timeout' | 'crashed'
  message: string
  /** detected media type of an unsupported file */
  mediaType?: string
}

/** A node as its row stores it. */
export interface PreparedNode extends Omit<CompiledNode, 'sectionPath' | 'sourceElementIds' | 'shows'> {
  /** JSON of the section path */
  section: string
  /** JSON of the ids of the elements */
  elements: string
  /** JSON of the items that it consists of; absent = none */
  shows?: string
  /** see `hashNode` */
  hash: Uint8Array
}

/** Bytes of a picture in a document. */
export interface PreparedAsset {
  /** name of the item that displays it */
  itemId: string
  contentType: string
  sha256: string
  bytes: Uint8Array
}

/**
 * A compiled document as it leaves the reading process: already serialized, packed and hashed, so that no other process
 * does work in proportion to its size.
 */
export interface PreparedDocument
  extends Pick<
    CompiledDocument,
    'contentType' | 'parser' | 'title' | 'mediaType' | 'language' | 'metadata' | 'contained' | 'recognised'
  > {
  /** packed text and elements; see `StoredArtifact` */
  artifact: Uint8Array
  artifactHash: string
  /** packed outline */
  outline: Uint8Array
  /** packed items, without the bytes of their pictures */
  items: Uint8Array
  assets: PreparedAsset[]
  /** number of elements in the artifact */
  segments: number
  nodes: PreparedNode[]
}

export type CompileResult = { ok: true; document: PreparedDocument } | { ok: false; failure: CompileFailure }

/** One file to read. `path` is opened read-only. */
export interface CompileRequest {
  path: string
  /** real path of the folder that must contain the file */
  root?: string
  filename: string
  /** declared by the client; the content decides */
  declaredType?: string
  /** charset of the header that came with the file; it overrides that of the file itself */
  declaredCharset?: string
  /** how text in pictures is recognized; default: English, for some seconds */
  ocr?: OcrRequest
  /** descriptions of its pictures by a vision model */
  descriptions?: PictureDescriptions
  /** transcript of a recording */
  transcript?: RecordedSpeech
  /** whether a file without text replaces a published text of its document, instead of being skipped */
  mayBeEmpty?: boolean
  /** number of containers around the file; absent: contained files are not extracted */
  depth?: number
}

/** The transcript of a recording by a transcription model. */
export interface RecordedSpeech {
  /** the model, as `provider/model` */
  by: string
  /** subtitles, JSON or plain text */
  text: string
  /** with seconds from the beginning, where the model returns them */
  segments?: readonly { start: number; end: number; text: string }[]
}

export interface PictureDescriptions {
  /** key of the model, see `toDescriptionKey` */
  model: string
  /** descriptions by key of the picture, see `picture/key.ts` */
  texts: Record<string, string>
}

/** Progress of reading a file: at the third of twelve pages. */
export interface ReadingProgress {
  unit: 'page' | 'slide' | 'sheet' | 'chapter' | 'entry'
  /** 1 for the first */
  at: number
  /** absent where the file does not state the total */
  total?: number
}

/** Receives the bytes of contained files in their order. */
export interface ContainedSink {
  /** Begins a request; discards what arrived before, because it is read once more. */
  begin(index: number): void
  /** Receives the next bytes of the open file of a request. */
  write(index: number, bytes: Uint8Array): Promise<void>
  /** Ends the open file: it is complete, or discarded. */
  end(index: number, isComplete: boolean): Promise<void>
}

/** Callbacks of a running compilation. */
export interface CompileListeners {
  /** called a few times a second for a file that takes long, with its index in the requests */
  onProgress?: (index: number, progress: ReadingProgress) => void
  /** receives the files contained in those whose requests have a depth; if it fails, the compilation fails */
  containedSink?: ContainedSink
}

/** Reads files in child processes with limits on time and memory. */
export interface Compiler {
  /** Results are in the order of the requests; a file that cannot be read fails alone. */
  compile(requests: CompileRequest[], signal?: AbortSignal, listeners?: CompileListeners): Promise<CompileResult[]>
  /** Files will arrive one by one: starts a reading process and keeps it for some minutes. */
  warm(): void
  /** ids of the running reading processes, for diagnostics and fault tests */
  pids(): number[]
  close(): Promise<void>
}
