import { getResolvedPDFJS } from 'unpdf'
import { isRecord } from '../../../lib/json/values.js'
import { type Matrix, multiply, toNumbers } from './matrix.js'

/** A drawn letter or ligature; lengths in points, origin bottom left. */
export interface Glyph {
  /** Its letters in the order in which they are read. */
  text: string
  left: number
  right: number
  y: number
}

/** The operators of a page, and its fonts by name. */
interface DrawnPage {
  operators: { fnArray: unknown[]; argsArray: unknown[] }
  getFont(name: string): unknown
}

interface TextState {
  matrix: Matrix
  font: string
  size: number
  charSpacing: number
  wordSpacing: number
  scale: number
  leading: number
  rise: number
}

const IDENTITY: Matrix = [1, 0, 0, 1, 0, 0]
const UNITS_PER_EM = 1000
const MAX_GLYPHS = 200_000
const MAX_DEPTH = 64

/**
 * Reads the level letters of a page from its operators, except those of annotations. Unlike the text items of pdf.js,
 * which are put in order letter by letter, a glyph keeps the letters of its ligature together.
 */
export async function readGlyphs({ operators: { fnArray, argsArray }, getFont }: DrawnPage): Promise<Glyph[]> {
  const { OPS } = await getResolvedPDFJS()
  const glyphs: Glyph[] = []
  const saved: TextState[] = []
  const units = new Map<string, number>()
  let state: TextState = {
    matrix: IDENTITY,
    font: '',
    size: 0,
    charSpacing: 0,
    wordSpacing: 0,
    scale: 1,
    leading: 0,
    rise: 0,
  }
  let line: Matrix = IDENTITY
  let text: Matrix = IDENTITY
  let annotations = 0
  const set = (change: Partial<TextState>): void => {
    state = { ...state, ...change }
  }
  const moveLine = (x: number, y: number): void => {
    line = multiply(line, [1, 0, 0, 1, x, y])
    text = line
  }
  const show = (list: unknown): void => {
    if (!Array.isArray(list) || glyphs.length > MAX_GLYPHS) return
    const unit = units.get(state.font) ?? readUnit(getFont(state.font))
    units.set(state.font, unit)
    for (const glyph of list) {
      let advance = 0
      if (typeof glyph === 'number') advance = (-glyph / UNITS_PER_EM) * state.size
      else if (isRecord(glyph)) {
        const width = typeof glyph.width === 'number' ? glyph.width * unit * state.size : 0
        const at = multiply(state.matrix, multiply(text, [state.scale, 0, 0, 1, 0, state.rise]))
        if (typeof glyph.unicode === 'string' && annotations === 0) addGlyph(glyphs, glyph.unicode, at, width)
        advance = width + state.charSpacing + (glyph.isSpace === true ? state.wordSpacing : 0)
      }
      text = multiply(text, [1, 0, 0, 1, advance * state.scale, 0])
    }
  }
  for (const [index, fn] of fnArray.entries()) {
    const args: unknown = argsArray[index]
    const [first, second]: unknown[] = Array.isArray(args) ? args : []
    const [x = 0, y = 0] = [first, second].map((value) => (typeof value === 'number' ? value : 0))
    if (fn === OPS.showText) show(first)
    else if (fn === OPS.setFont) set({ font: String(first), size: y })
    else if (fn === OPS.setTextMatrix) {
      line = toMatrix(first)
      text = line
    } else if (fn === OPS.moveText) moveLine(x, y)
    else if (fn === OPS.setLeadingMoveText) {
      set({ leading: -y })
      moveLine(x, y)
    } else if (fn === OPS.nextLine) moveLine(0, -state.leading)
    else if (fn === OPS.beginText) {
      line = IDENTITY
      text = IDENTITY
    } else if (fn === OPS.setCharSpacing) set({ charSpacing: x })
    else if (fn === OPS.setWordSpacing) set({ wordSpacing: x })
    else if (fn === OPS.setHScale) set({ scale: x / 100 })
    else if (fn === OPS.setLeading) set({ leading: x })
    else if (fn === OPS.setTextRise) set({ rise: x })
    else if (fn === OPS.transform) set({ matrix: multiply(state.matrix, toNumbers(args)) })
    else if (fn === OPS.save && saved.length < MAX_DEPTH) saved.push(state)
    else if (fn === OPS.restore || fn === OPS.paintFormXObjectEnd) state = saved.pop() ?? state
    else if (fn === OPS.paintFormXObjectBegin) {
      if (saved.length < MAX_DEPTH) saved.push(state)
      if (Array.isArray(first)) set({ matrix: multiply(state.matrix, toNumbers(first)) })
    } else if (fn === OPS.beginAnnotation) annotations++
    else if (fn === OPS.endAnnotation) annotations--
  }
  return glyphs
}

function addGlyph(glyphs: Glyph[], text: string, [a, b, , , e, f]: Matrix, width: number): void {
  const end = e + a * width
  if (Math.abs(b) > Math.abs(a) || !Number.isFinite(end) || !Number.isFinite(f)) return
  glyphs.push({ text, left: Math.min(e, end), right: Math.max(e, end), y: f })
}

/** Width of a unit of a font, in text sizes. */
function readUnit(font: unknown): number {
  const [unit] = toNumbers(isRecord(font) ? font.fontMatrix : undefined)
  return unit !== undefined && unit > 0 ? unit : 1 / UNITS_PER_EM
}

function toMatrix(value: unknown): Matrix {
  return multiply(IDENTITY, toNumbers(value))
}
