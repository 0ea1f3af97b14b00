import { languageData } from '../../../local/ocr-languages.js'
import { ReadError } from '../limits.js'
import { scaled, turned } from '../picture/transform.js'
import { type Bitmap, MAX_PIXELS } from '../render/bitmap.js'
import { busiestPart } from './busiest-part.js'
import { type Core, destroyPix, pixOf, startCore, type TessApi } from './core.js'
import type { OcrLanguages } from './pages-read.js'
import { type ReadArea, withMissedWords } from './second-look.js'
import { type Line, linesOf, meanConfidence, type PageText } from './words.js'

/** Recognises text in pictures, one after the other. */
export interface Recogniser {
  core: Core
  /** @param dpi resolution, when it is known, as for a drawn page */
  read(bitmap: Bitmap, dpi?: number): PageText
  /**
   * Recognises a picture inside a document. It is upright and often has no text, so no other rotation or language is
   * tried.
   */
  readAsShown(bitmap: Bitmap): PageText
  /** Discards the program when it uses much memory; the next `getRecogniser` starts another. */
  rest(): void
}

/** Tesseract works best with text of the height that print has at this resolution. */
const TARGET_DPI = 300
/** Smaller text is enlarged, up to this factor. */
const SMALL_DPI = 220
const MOST_ENLARGED = 4
/** A picture without an estimated resolution is enlarged when no side is longer than this. */
const SMALL_SIDE = 1000
const ENLARGED_BLINDLY = 3
/** Maximal number of pixels passed to Tesseract; larger pictures are scaled down. */
const MOST_READ = 12_000_000
/** The same for a picture in a document: a page at 200 dpi. */
const MOST_SHOWN = 4_000_000
/**
 * Upside-down text is recognised as garbage: below this confidence, other rotations are tried on a part of the picture.
 */
const DOUBTFUL = 70
const CLEARLY_BETTER = 15
const PROBE_SIDE = 1100
/** An instance with more memory is not kept for the next file. */
const MOST_HELD = 128 * 1024 * 1024
const LSTM_ONLY = 1
const AUTOMATIC = 3
const SPARSE = 11
const ONE_LINE = 7
const ONE_CHARACTER = 10
const FIGURES = '0123456789.,$%()-—*'
/** Margin around an area that is recognised separately, so that its letters do not touch the edge. */
const EDGE = 6

let current: { key: string; recogniser: Promise<Recogniser> } | undefined

/**
 * Returns a recogniser for these languages; it is reused until other languages are requested. @throws ReadError when a
 * language is not installed
 */
export function recogniser(languages: OcrLanguages): Promise<Recogniser> {
  const key = JSON.stringify(languages)
  if (current?.key === key) return current.recogniser
  const made = { key, recogniser: start(languages) }
  made.recogniser.catch(() => forget(made.recogniser))
  current = made
  return made.recogniser
}

function forget(one: Promise<Recogniser>): void {
  if (current?.recogniser === one) current = undefined
}

async function start({ codes, others = [], folder }: OcrLanguages): Promise<Recogniser> {
  for (const code of codes) dataOf(code, folder)
  const core = await startCore()
  const apis = new Map<string, TessApi>()
  const apiOf = (tongue: Tongue): TessApi => {
    const known = apis.get(tongue.join('+'))
    if (known !== undefined) return known
    const api = startApi(core, tongue, folder)
    apis.set(tongue.join('+'), api)
    return api
  }
  apiOf(codes)
  let tongue: Tongue = codes
  const tongues: readonly Tongue[] = [codes, ...others.map((code) => [code, ...codes])]
  const drop = (): void => {
    current = undefined
  }
  const guarded = (read: () => PageText): PageText => {
    try {
      return read()
    } catch (error) {
      // after a trap the state of the program is undefined
      drop()
      throw error
    }
  }
  return {
    core,
    read: (bitmap, dpi) =>
      guarded(() => {
        const read = (one: Tongue, part: Bitmap): PageText => readOnce(core, apiOf(one), part, dpi)
        // pages of one document mostly have the same script
        if (tongue !== codes) tongue = readsBest([codes, tongue], bitmap, read)
        const text = lookAgain(core, apiOf(tongue), readUpright(core, apiOf(tongue), bitmap, dpi))
        if (text.confidence >= DOUBTFUL || tongues.length === 1) return text
        const better = readsBest(tongues, bitmap, read)
        if (better === tongue) return text
        tongue = better
        return lookAgain(core, apiOf(tongue), readUpright(core, apiOf(tongue), bitmap, dpi))
      }),
    readAsShown: (bitmap) =>
      guarded(() => lookAgain(core, apiOf(tongue), readOnce(core, apiOf(tongue), bitmap, undefined, MOST_SHOWN))),
    rest() {
      if (core.memory().length > MOST_HELD) drop()
    },
  }
}

/** Languages that are recognised together, the likeliest first. */
type Tongue = readonly string[]

/**
 * Finds the languages that recognise the busiest part of a picture best: the first ones, unless others are clearly
 * better.
 */
function readsBest(
  tongues: readonly Tongue[],
  bitmap: Bitmap,
  read: (tongue: Tongue, part: Bitmap) => PageText,
): Tongue {
  const part = busiestPart(bitmap, PROBE_SIDE)
  const [first = [], ...others] = tongues
  let best = { tongue: first, score: scoreOf(read(first, part)) + CLEARLY_BETTER }
  for (const tongue of others) {
    const score = scoreOf(read(tongue, part))
    if (score > best.score) best = { tongue, score }
  }
  return best.tongue
}

function startApi({ program }: Core, codes: readonly string[], folder: string | undefined): TessApi {
  const api = new program.TessBaseAPI()
  for (const code of codes) program.FS.writeFile(`${code}.traineddata`, dataOf(code, folder))
  if (api.Init(null, codes.join('+'), LSTM_ONLY) !== 0)
    throw new Error(`the data of ${codes.join(', ')} cannot be read`)
  for (const code of codes) program.FS.unlink(`${code}.traineddata`)
  api.SetPageSegMode(AUTOMATIC)
  return api
}

function dataOf(code: string, folder: string | undefined): Uint8Array {
  const data = languageData(code, folder)
  if (data !== undefined) return data
  const message = `text in pictures cannot be read: the language ${code} is not installed, see \`ks languages\``
  throw new ReadError('unsupported-type', message)
}

function readUpright(core: Core, api: TessApi, bitmap: Bitmap, dpi: number | undefined): PageText {
  const straight = readOnce(core, api, bitmap, dpi)
  if (straight.confidence >= DOUBTFUL && straight.lines.length > 1) return straight
  const probe = busiestPart(bitmap, PROBE_SIDE)
  const base = probe === bitmap ? straight : readOnce(core, api, probe, dpi)
  let best = { degrees: 0, text: base }
  for (const degrees of [90, 270, 180]) {
    const text = readOnce(core, api, turned(probe, degrees), dpi)
    if (scoreOf(text) > scoreOf(best.text) + (best.degrees === 0 ? CLEARLY_BETTER : 0)) best = { degrees, text }
    if (best.degrees !== 0 && best.text.confidence > 85) break
  }
  if (best.degrees === 0) return straight
  const { degrees } = best
  const text = probe === bitmap ? best.text : readOnce(core, api, turned(bitmap, degrees), dpi)
  return { ...text, rotation: degrees }
}

/** A confidence says little with few letters. */
function scoreOf({ confidence, lines }: PageText): number {
  const letters = lines.reduce((sum, line) => sum + line.words.reduce((all, { text }) => all + text.length, 0), 0)
  return confidence * Math.min(1, letters / 20)
}

function readOnce(core: Core, api: TessApi, bitmap: Bitmap, known: number | undefined, most = MOST_READ): PageText {
  const fitting = Math.min(1, Math.sqrt(most / (bitmap.width * bitmap.height)))
  let picture = fitting < 1 ? scaled(bitmap, fitting) : bitmap
  let guess = show(core, api, picture, known === undefined ? undefined : known * fitting)
  if (guess === undefined || guess < SMALL_DPI) {
    const factor = enlargement(picture, guess, most)
    if (factor > 1.1) {
      picture = scaled(picture, factor)
      show(core, api, picture, TARGET_DPI)
      guess = (guess ?? TARGET_DPI / factor) * factor
    }
  }
  let lines = recognised(api)
  if (lines.length === 0) {
    api.SetPageSegMode(SPARSE)
    show(core, api, picture, guess)
    lines = recognised(api)
    api.SetPageSegMode(AUTOMATIC)
  }
  api.Clear()
  const { width, height } = picture
  const confidence = meanConfidence(lines.flatMap(({ words }) => words))
  return { lines, width, height, dpi: guess ?? TARGET_DPI, rotation: 0, confidence, picture }
}

/** Adds words that were missed at first, see `addMissedWords`. */
function lookAgain(core: Core, api: TessApi, text: PageText): PageText {
  let isShown = false
  const readArea: ReadArea = ({ left, top, right, bottom }, figures) => {
    if (!isShown) setImage(core, api, text.picture, text.dpi)
    isShown = true
    api.SetPageSegMode(figures && right - left < bottom - top ? ONE_CHARACTER : ONE_LINE)
    api.SetVariable('tessedit_char_whitelist', figures ? FIGURES : '')
    const from = Math.max(0, Math.floor(left) - EDGE)
    const to = Math.min(text.picture.width, Math.ceil(right) + EDGE)
    api.SetRectangle(from, Math.floor(top), to - from, Math.ceil(bottom - top))
    return recognised(api).flatMap(({ words }) => words)
  }
  try {
    return withMissedWords(text, readArea)
  } finally {
    if (isShown) {
      api.SetVariable('tessedit_char_whitelist', '')
      api.SetPageSegMode(AUTOMATIC)
      api.Clear()
    }
  }
}

/** Factor by which a picture is enlarged, within the limit of pixels. */
function enlargement({ width, height }: Bitmap, guess: number | undefined, pixels: number): number {
  const most = Math.sqrt(Math.min(pixels, MAX_PIXELS) / (width * height))
  if (guess !== undefined) return Math.min(most, MOST_ENLARGED, TARGET_DPI / guess)
  return Math.max(width, height) > SMALL_SIDE ? 1 : Math.min(most, ENLARGED_BLINDLY)
}

/**
 * Passes a picture to Tesseract and finds its lines. @returns the known resolution, else the one estimated from its
 * text
 */
function show(core: Core, api: TessApi, bitmap: Bitmap, known: number | undefined): number | undefined {
  setImage(core, api, bitmap, known)
  delete core.guess.dpi
  api.FindLines()
  return known ?? core.guess.dpi
}

function setImage(core: Core, api: TessApi, bitmap: Bitmap, dpi: number | undefined): void {
  const picture = pixOf(core, bitmap)
  // Tesseract keeps its own copy of the picture
  api.SetImage(core.program.wrapPointer(picture, core.program.Pix))
  if (dpi !== undefined) api.SetSourceResolution(Math.round(dpi))
  destroyPix(core, picture)
}

function recognised(api: TessApi): Line[] {
  if (api.Recognize(null) !== 0) return []
  return linesOf(api.GetJSONText(0))
}
