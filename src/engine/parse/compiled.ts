import type { OcrRequest, RecognisedPage } from './ocr/pages-read.js'

/** What parsing makes of one file: plain data, free of ids from the store, so it can cross a process border. */

export type ElementType = 'title' | 'heading' | 'paragraph' | 'table' | 'list' | 'image' | 'code' | 'page-break'

/** One piece of the parser's output, in reading order. */
export interface CompiledElement {
  /** stable within the artifact: `e1`, `e2`, … */
  id: string
  type: ElementType
  text?: string
  /** 1-based page of the source file, where it has pages */
  pageNumber?: number
  /** titles of the sections that hold the element, outermost first */
  sectionPath: string[]
  /** `level` for headings; `startOffset`/`endOffset` (UTF-16 units in the document text) for all that have text */
  metadata: Record<string, unknown>
}

export interface CompiledOutlineNode {
  /** stable within the outline: `s1`, `s1.2`, … */
  id: string
  title: string
  /** 1 for a top section */
  level: number
  /** where the section came from: `heading`, `bookmark` (the file's own outline), `page`, `document`, `key` */
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

/** A retrievable passage. */
export interface CompiledNode {
  /** 0-based place in reading order */
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
  /** the tables, pictures and code blocks that it is made of; absent = none */
  shows?: ShownItem[]
}

/** An item as a passage names it, so that a citation says what it is and where. */
export interface ShownItem {
  /** as `itemName` says */
  id: string
  modality: 'code' | 'image' | 'table'
  pageNumber?: number
  boundingBox?: BoundingBox
  /** its bytes are stored or can be drawn, so that it can be looked at */
  isStored?: true
  /** how sure its words are, in per cent, where the passage holds words that were read in it */
  ocr?: number
}

/** A place on a page: points from its top left corner. */
export interface BoundingBox {
  x: number
  y: number
  width: number
  height: number
}

export interface CompiledItem {
  parseElementId: string
  /** the element with its caption */
  captionElementId?: string
  modality: 'code' | 'image' | 'page' | 'table'
  title?: string
  caption?: string
  textPreview?: string
  /** the words that were read in a picture */
  ocrText?: string
  pageNumber?: number
  /** where it stands on its page, in points from the upper left of the page as it is shown */
  boundingBox?: BoundingBox
  sectionPath: string[]
  startOffset?: number
  endOffset?: number
  sourceMetadata: Record<string, unknown>
  /** inline bytes of the item, where the file holds them (an embedded image) */
  asset?: { contentType: string; bytes: Uint8Array }
  /** a picture that the document only points to */
  externalUri?: string
  /** it is a page, or stands on one, that is drawn when it is asked for */
  drawn?: true
}

export interface CompiledDocument {
  contentType: 'text' | 'structured' | 'mixed'
  parser: 'native-markdown' | 'native-html' | 'native-structured' | 'unstructured'
  /** the document's own title, or its file name without ending */
  title: string
  /** media type decided by content */
  mediaType: string
  language?: string
  /** element texts joined with a blank line; every offset counts in this string */
  text: string
  elements: CompiledElement[]
  outline: CompiledOutlineNode[]
  nodes: CompiledNode[]
  items: CompiledItem[]
  metadata: Record<string, unknown>
  /** files that lie in it and are documents of their own; absent where there are none */
  contained?: ContainedFile[]
  /** pages that were read in pictures this time, and pictures in it, to be kept for the next */
  recognised: RecognisedPage[]
}

/** A file that lies in another one: an attachment of a mail, a file of an archive. */
export interface ContainedFile {
  /** path below the file that it lies in, without a way out of it; no two have the same */
  name: string
  /** as its container declares it */
  mediaType?: string
  sha256: string
  size: number
}

/** Why a file could not be read: one sentence for people, and a stable code. */
export interface CompileFailure {
  code: 'unsupported-type' | 'encrypted' | 'malformed' | 'empty' | 'limit-exceeded' | 'timeout' | 'crashed'
  message: string
  /** of a type that cannot be read: which it is, as its content says */
  mediaType?: string
}

/** A passage as its row holds it. */
export interface PreparedNode extends Omit<CompiledNode, 'sectionPath' | 'sourceElementIds' | 'shows'> {
  /** JSON of the section path */
  section: string
  /** JSON of the ids of the elements */
  elements: string
  /** JSON of the items that it is made of; absent = none */
  shows?: string
  /** see `nodeHash` */
  hash: Uint8Array
}

/** Bytes of a picture inside a document. */
export interface PreparedAsset {
  /** name of the item that shows it */
  itemId: string
  contentType: string
  sha256: string
  bytes: Uint8Array
}

/**
 * A compiled document as it leaves the reading process: serialised, packed and hashed there, so that nobody else works on
 * anything of the size of a document.
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
  /** how many elements the artifact holds */
  segments: number
  nodes: PreparedNode[]
}

export type CompileResult = { ok: true; document: PreparedDocument } | { ok: false; failure: CompileFailure }

/** One file to read. The parser opens `path` itself, read-only. */
export interface CompileRequest {
  path: string
  /** real path of the folder that the file has to lie in */
  root?: string
  filename: string
  /** as the client declared it; content decides */
  declaredType?: string
  /** how text in pictures is read; default: English, for some seconds */
  ocr?: OcrRequest
  /** what a vision model said of pictures of the file */
  descriptions?: PictureDescriptions
  /** what is said in it, if it is a recording */
  transcript?: RecordedSpeech
  /** how many files lie around it, where those in it are wanted */
  depth?: number
}

/** What is said in a recording, as a transcription model wrote it down. */
export interface RecordedSpeech {
  /** the model, as `provider/model` */
  by: string
  /** subtitles, JSON or plain text */
  text: string
  /** with seconds from the beginning, where the model told them */
  segments?: readonly { start: number; end: number; text: string }[]
}

export interface PictureDescriptions {
  /** what the model is known by, see `visionKey` */
  model: string
  /** by what pictures are known by, see `picture/key.ts` */
  said: Record<string, string>
}

/** How far the reading of a file is: at the third of twelve pages. */
export interface ReadingProgress {
  unit: 'page' | 'slide' | 'sheet' | 'chapter' | 'entry'
  /** 1 for the first */
  at: number
  /** absent where the file does not say how many there are */
  total?: number
}

/** Takes bytes of files that lie in those that are read, in the order in which they come. */
export interface ContainedSink {
  /** Nothing came yet of the request at this place, or what came is to be forgotten: it is read once more. */
  begin(place: number): void
  /** The next bytes of the open file of a request. */
  piece(place: number, bytes: Uint8Array): Promise<void>
  /** The open file is whole, or given up. */
  end(place: number, kept: boolean): Promise<void>
}

/** Who hears of a reading while it goes on. */
export interface CompileListeners {
  /** told a few times a second of a file that takes a while, by its place in the requests */
  onProgress?: (index: number, progress: ReadingProgress) => void
  /** takes what lies in files whose requests have a depth; where it fails, all of the reading does */
  inside?: ContainedSink
}

/** Reads files in child processes with limits on time and memory. */
export interface Compiler {
  /**
   * Results in the order of the requests; a file that cannot be read fails alone.
   */
  compile(requests: CompileRequest[], signal?: AbortSignal, listeners?: CompileListeners): Promise<CompileResult[]>
  /** Files are about to come one by one: starts a reading process and keeps it for some minutes. */
  warm(): void
  /** reading processes that run now, for diagnostics and fault tests */
  pids(): number[]
  close(): Promise<void>
}
