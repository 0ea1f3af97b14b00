import { readLanguageData } from '../../../local/ocr-languages.js'
import type { OcrLanguages } from '../../store/recognised-pages.js'
import { ReadError } from '../limits.js'
import { rotateBitmap, scaleBitmap } from '../picture/transform.js'
import { type Bitmap, MAX_PIXELS } from '../render/bitmap.js'
import { findBusiestPart } from './busiest-part.js'
import { createPix, destroyPix, startCore, type TessApi, type TesseractCore } from './core.js'
import { addMissedWords, type ReadArea } from './second-pass.js'
import { computeMeanConfidence, type OcrLine, type OcrText, parseLines } from './words.js'

/** Recognises text in pictures, one after the other. */
export interface Recogniser {
  core: TesseractCore
  /** @param dpi resolution, when it is known, as for a drawn page */
  read(bitmap: Bitmap, dpi?: number): OcrText
  /**
   * Recognises a picture inside a document. It is upright and often has no text, so no other rotation or language is
   * tried.
   */
  readAsShown(bitmap: Bitmap): OcrText
  /** Discards the program when it uses much memory; the next `getRecogniser` starts another. */
  releaseMemory(): void
}

/** Tesseract works best with text of the height that print has at this resolution. */
const TARGET_DPI = 300
/** Smaller text is enlarged, up to this factor. */
const SMALL_DPI = 220
const MAX_ENLARGEMENT = 4
/** A picture without an estimated resolution is enlarged when no side is longer than this. */
const SMALL_SIDE = 1000
const BLIND_ENLARGEMENT = 3
/** Maximal number of pixels passed to Tesseract; larger pictures are scaled down. */
const MAX_READ_PIXELS = 12_000_000
/** The same for a picture in a document: a page at 200 dpi. */
const MAX_PICTURE_PIXELS = 4_000_000
/**
 * Upside-down text is recognised as garbage: below this confidence, other rotations are tried on a part of the picture.
 */
const MIN_CONFIDENCE = 70
const MIN_SCORE_GAIN = 15
const PROBE_SIDE = 1100
/** An instance with more memory is not kept for the next file. */
const MAX_IDLE_BYTES = 128 * 1024 * 1024
const LSTM_ONLY = 1
const AUTOMATIC = 3
const SPARSE = 11
const ONE_LINE = 7
const ONE_CHARACTER = 10
const NUMBER_CHARACTERS = '0123456789.,$%()-—*'
/** Margin around an area that is recognised separately, so that its letters do not touch the edge. */
const MARGIN_PX = 6

let current: { key: string; recogniser: Promise<Recogniser> } | undefined

/**
 * Returns a recogniser for these languages; it is reused until other languages are requested. @throws ReadError when a
 * language is not installed
 */
export function getRecogniser(languages: OcrLanguages): Promise<Recogniser> {
  const key = JSON.stringify(languages)
  if (current?.key === key) return current.recogniser
  const entry = { key, recogniser: startRecogniser(languages) }
  entry.recogniser.catch(() => {
    if (current === entry) current = undefined
  })
  current = entry
  return entry.recogniser
}

async function startRecogniser({ codes, others = [], folder }: OcrLanguages): Promise<Recogniser> {
  for (const code of codes) loadLanguageData(code, folder)
  const core = await startCore()
  const engines = new Map<string, OcrEngine>()
  const getEngine = (languageGroup: LanguageGroup): OcrEngine => {
    const existing = engines.get(languageGroup.join('+'))
    if (existing !== undefined) return existing
    const engine = { core, api: startApi(core, languageGroup, folder) }
    engines.set(languageGroup.join('+'), engine)
    return engine
  }
  const readAnyRotation = (group: LanguageGroup, bitmap: Bitmap, dpi: number | undefined): OcrText => {
    const engine = getEngine(group)
    return readMissedWords(engine, readUpright(engine, bitmap, dpi))
  }
  getEngine(codes)
  let languageGroup: LanguageGroup = codes
  const languageGroups: readonly LanguageGroup[] = [codes, ...others.map((code) => [code, ...codes])]
  const discard = (): void => {
    current = undefined
  }
  const guarded = (read: () => OcrText): OcrText => {
    try {
      return read()
    } catch (error) {
      // after a trap the state of the program is undefined
      discard()
      throw error
    }
  }
  return {
    core,
    read: (bitmap, dpi) =>
      guarded(() => {
        const read = (group: LanguageGroup, part: Bitmap): OcrText => readOnce(getEngine(group), part, dpi)
        // pages of one document mostly have the same script
        if (languageGroup !== codes) languageGroup = chooseLanguages([codes, languageGroup], bitmap, read)
        const text = readAnyRotation(languageGroup, bitmap, dpi)
        if (text.confidence >= MIN_CONFIDENCE || languageGroups.length === 1) return text
        const better = chooseLanguages(languageGroups, bitmap, read)
        if (better === languageGroup) return text
        languageGroup = better
        return readAnyRotation(languageGroup, bitmap, dpi)
      }),
    readAsShown: (bitmap) =>
      guarded(() => {
        const engine = getEngine(languageGroup)
        return readMissedWords(engine, readOnce(engine, bitmap, undefined, MAX_PICTURE_PIXELS))
      }),
    releaseMemory() {
      if (core.memory().length > MAX_IDLE_BYTES) discard()
    },
  }
}

/** Tesseract with the data of a group of languages. */
interface OcrEngine {
  core: TesseractCore
  api: TessApi
}

/** Languages that are recognised together, the likeliest first. */
type LanguageGroup = readonly string[]

/**
 * Finds the languages that recognise the busiest part of a picture best: the first ones, unless others are clearly
 * better.
 */
function chooseLanguages(
  languageGroups: readonly LanguageGroup[],
  bitmap: Bitmap,
  read: (languageGroup: LanguageGroup, part: Bitmap) => OcrText,
): LanguageGroup {
  const part = findBusiestPart(bitmap, PROBE_SIDE)
  const [first = [], ...others] = languageGroups
  let best = { languageGroup: first, score: computeScore(read(first, part)) + MIN_SCORE_GAIN }
  for (const languageGroup of others) {
    const score = computeScore(read(languageGroup, part))
    if (score > best.score) best = { languageGroup, score }
  }
  return best.languageGroup
}

function startApi({ program }: TesseractCore, codes: readonly string[], folder: string | undefined): TessApi {
  const api = new program.TessBaseAPI()
  for (const code of codes) program.FS.writeFile(`${code}.traineddata`, loadLanguageData(code, folder))
  if (api.Init(null, codes.join('+'), LSTM_ONLY) !== 0)
    throw new Error(`the data of ${codes.join(', ')} cannot be read`)
  for (const code of codes) program.FS.unlink(`${code}.traineddata`)
  api.SetPageSegMode(AUTOMATIC)
  return api
}

function loadLanguageData(code: string, folder: string | undefined): Uint8Array {
  const data = readLanguageData(code, folder)
  if (data !== undefined) return data
  const message = `text in pictures cannot be read: the language ${code} is not installed, see \`ks doctor --languages\``
  throw new ReadError('unsupported-type', message)
}

function readUpright(engine: OcrEngine, bitmap: Bitmap, dpi: number | undefined): OcrText {
  const unrotated = readOnce(engine, bitmap, dpi)
  if (unrotated.confidence >= MIN_CONFIDENCE && unrotated.lines.length > 1) return unrotated
  const probe = findBusiestPart(bitmap, PROBE_SIDE)
  const base = probe === bitmap ? unrotated : readOnce(engine, probe, dpi)
  let best = { degrees: 0, text: base }
  for (const degrees of [90, 270, 180]) {
    const text = readOnce(engine, rotateBitmap(probe, degrees), dpi)
    if (computeScore(text) > computeScore(best.text) + (best.degrees === 0 ? MIN_SCORE_GAIN : 0))
      best = { degrees, text }
    if (best.degrees !== 0 && best.text.confidence > 85) break
  }
  if (best.degrees === 0) return unrotated
  const { degrees } = best
  const text = probe === bitmap ? best.text : readOnce(engine, rotateBitmap(bitmap, degrees), dpi)
  return { ...text, rotation: degrees }
}

/** With few letters, a confidence is not reliable. */
function computeScore({ confidence, lines }: OcrText): number {
  const letters = lines.reduce((sum, line) => sum + line.words.reduce((all, { text }) => all + text.length, 0), 0)
  return confidence * Math.min(1, letters / 20)
}

function readOnce(
  engine: OcrEngine,
  bitmap: Bitmap,
  knownDpi: number | undefined,
  maxPixels = MAX_READ_PIXELS,
): OcrText {
  const { api } = engine
  const fitFactor = Math.min(1, Math.sqrt(maxPixels / (bitmap.width * bitmap.height)))
  let picture = fitFactor < 1 ? scaleBitmap(bitmap, fitFactor) : bitmap
  let guess = loadPicture(engine, picture, knownDpi === undefined ? undefined : knownDpi * fitFactor)
  if (guess === undefined || guess < SMALL_DPI) {
    const factor = computeEnlargement(picture, guess, maxPixels)
    if (factor > 1.1) {
      picture = scaleBitmap(picture, factor)
      loadPicture(engine, picture, TARGET_DPI)
      guess = (guess ?? TARGET_DPI / factor) * factor
    }
  }
  let lines = recogniseLines(api)
  if (lines.length === 0) {
    api.SetPageSegMode(SPARSE)
    loadPicture(engine, picture, guess)
    lines = recogniseLines(api)
    api.SetPageSegMode(AUTOMATIC)
  }
  api.Clear()
  const { width, height } = picture
  const confidence = computeMeanConfidence(lines.flatMap(({ words }) => words))
  return { lines, width, height, dpi: guess ?? TARGET_DPI, rotation: 0, confidence, picture }
}

/** Adds words that were missed at first, see `addMissedWords`. */
function readMissedWords(engine: OcrEngine, text: OcrText): OcrText {
  const { api } = engine
  let isShown = false
  const readArea: ReadArea = ({ left, top, right, bottom }, characters) => {
    if (!isShown) setImage(engine, text.picture, text.dpi)
    isShown = true
    api.SetPageSegMode(characters === 'numeric' && right - left < bottom - top ? ONE_CHARACTER : ONE_LINE)
    api.SetVariable('tessedit_char_whitelist', characters === 'numeric' ? NUMBER_CHARACTERS : '')
    const from = Math.max(0, Math.floor(left) - MARGIN_PX)
    const to = Math.min(text.picture.width, Math.ceil(right) + MARGIN_PX)
    api.SetRectangle(from, Math.floor(top), to - from, Math.ceil(bottom - top))
    return recogniseLines(api).flatMap(({ words }) => words)
  }
  try {
    return addMissedWords(text, readArea)
  } finally {
    if (isShown) {
      api.SetVariable('tessedit_char_whitelist', '')
      api.SetPageSegMode(AUTOMATIC)
      api.Clear()
    }
  }
}

/** Factor by which a picture is enlarged, within the limit of pixels. */
function computeEnlargement({ width, height }: Bitmap, guess: number | undefined, maxPixels: number): number {
  const maxFactor = Math.sqrt(Math.min(maxPixels, MAX_PIXELS) / (width * height))
  if (guess !== undefined) return Math.min(maxFactor, MAX_ENLARGEMENT, TARGET_DPI / guess)
  return Math.max(width, height) > SMALL_SIDE ? 1 : Math.min(maxFactor, BLIND_ENLARGEMENT)
}

/**
 * Passes a picture to Tesseract and finds its lines. @returns the known resolution, else the one estimated from its
 * text
 */
function loadPicture(engine: OcrEngine, bitmap: Bitmap, knownDpi: number | undefined): number | undefined {
  const { core, api } = engine
  setImage(engine, bitmap, knownDpi)
  delete core.guess.dpi
  api.FindLines()
  return knownDpi ?? core.guess.dpi
}

function setImage({ core, api }: OcrEngine, bitmap: Bitmap, dpi: number | undefined): void {
  const picture = createPix(core, bitmap)
  // Tesseract keeps its own copy of the picture
  api.SetImage(core.program.wrapPointer(picture, core.program.Pix))
  if (dpi !== undefined) api.SetSourceResolution(Math.round(dpi))
  destroyPix(core, picture)
}

function recogniseLines(api: TessApi): OcrLine[] {
  if (api.Recognize(null) !== 0) return []
  return parseLines(api.GetJSONText(0))
}
