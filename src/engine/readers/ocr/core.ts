import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname } from 'node:path'
import { compileFunction } from 'node:vm'
import type { Bitmap } from '../render/bitmap.js'

/** Node's types do not declare WebAssembly. */
declare const WebAssembly: {
  validate(bytes: Uint8Array): boolean
  instantiate(bytes: Uint8Array, imports: object): Promise<{ instance: { exports: Record<string, unknown> } }>
  Memory: new (size: object) => { readonly buffer: ArrayBuffer }
}

/** The used functions of Tesseract and Leptonica, compiled to WebAssembly. Numbers are addresses in its memory. */
interface TesseractProgram {
  TessBaseAPI: new () => TessApi
  FS: { writeFile(name: string, data: Uint8Array): void; unlink(name: string): void }
  Pix: object
  _malloc(bytes: number): number
  _free(address: number): void
  _pixReadMem(address: number, bytes: number): number
  _pixReadHeaderMem(address: number, bytes: number, ...addressesOfFacts: number[]): number
  _pixDestroy(addressOfPointer: number): void
  wrapPointer(address: number, kind: object): Pix
  getPointer(object: object): number
}

export interface Pix {
  get_w(): number
  get_h(): number
  get_d(): number
  get_spp(): number
  get_wpl(): number
  get_data(): number
  get_colormap(): object
}

export interface TessApi {
  Init(path: null, languages: string, engine: number): number
  SetVariable(name: string, value: string): boolean
  SetPageSegMode(mode: number): void
  SetImage(picture: Pix): void
  SetRectangle(left: number, top: number, width: number, height: number): void
  SetSourceResolution(dpi: number): void
  FindLines(): number
  Recognize(monitor: null): number
  GetJSONText(page: number): string
  Clear(): void
}

/**
 * An instance of Tesseract. WebAssembly never returns memory, so an instance that grew large or failed is discarded.
 */
export interface TesseractCore {
  program: TesseractProgram
  /** The resolution that Tesseract estimated from the text size of the last picture, if it could. */
  guess: { dpi?: number }
  /** The current memory; any allocation may move it. */
  memory(): Uint8Array
  allocate(bytes: number): number
}

/** The smallest module with a SIMD instruction: it is valid only where SIMD is supported. */
const SIMD_PROBE = Uint8Array.of(
  ...[0, 97, 115, 109, 1, 0, 0, 0, 1, 5, 1, 96, 0, 1, 123, 3, 2, 1, 0, 10, 10, 1, 8, 0, 65, 0, 253, 15, 253, 98, 11],
)

/**
 * Starts Tesseract. The SIMD variant is three times as fast; machines without SIMD get the other one.
 *
 * The loader does not expose its memory, so it runs with a wrapped `WebAssembly` that captures it.
 */
export async function startCore(): Promise<TesseractCore> {
  const require = createRequire(import.meta.url)
  const name = `tesseract.js-core/tesseract-core${WebAssembly.validate(SIMD_PROBE) ? '-simd' : ''}-lstm`
  const path = require.resolve(`${name}.js`)
  let memory: { readonly buffer: ArrayBuffer } | undefined
  const capturingWebAssembly = {
    ...Object.fromEntries(Object.getOwnPropertyNames(WebAssembly).map((key) => [key, Reflect.get(WebAssembly, key)])),
    instantiate: async (bytes: Uint8Array, imports: object) => {
      const result = await WebAssembly.instantiate(bytes, imports)
      memory = Object.values(result.instance.exports).find((value) => value instanceof WebAssembly.Memory)
      return result
    },
  }
  const module: { exports: unknown } = { exports: {} }
  const parameters = ['module', 'exports', 'require', '__dirname', '__filename', 'WebAssembly']
  const load = compileFunction(readFileSync(path, 'utf8'), parameters, { filename: path })
  load(module, module.exports, require, dirname(path), path, capturingWebAssembly)
  const start = module.exports
  if (typeof start !== 'function') throw new Error('tesseract.js-core does not export a function')
  const guess: { dpi?: number } = {}
  const captureEstimate = (line: string): void => {
    const dpi = /^Estimating resolution as (\d+)$/.exec(line)?.[1]
    if (dpi !== undefined) guess.dpi = Number(dpi)
  }
  const wasmBinary = readFileSync(require.resolve(`${name}.wasm`))
  // the package has no types; `TesseractProgram` declares what is used
  const program = (await start({ wasmBinary, print: captureEstimate, printErr: captureEstimate })) as TesseractProgram
  const wasmMemory = memory
  if (wasmMemory === undefined) throw new Error('tesseract.js-core has no memory')
  return {
    program,
    guess,
    memory: () => new Uint8Array(wasmMemory.buffer),
    allocate(bytes) {
      const address = program._malloc(bytes)
      if (address === 0) throw new Error('out of memory for the picture')
      return address
    },
  }
}

/** Copies a grey bitmap into a Leptonica picture without a resolution. @returns its address */
export function createPix(core: TesseractCore, { width, height, data }: Bitmap): number {
  const head = Buffer.from(`P5\n${width} ${height}\n255\n`)
  const address = readPix(core, [head, data])
  if (address === 0) throw new Error('out of memory for the picture')
  return address
}

/** Decodes a picture from the parts of its file. @returns its address; 0 when it cannot be decoded */
export function readPix(core: TesseractCore, parts: readonly Uint8Array[]): number {
  const size = parts.reduce((sum, part) => sum + part.length, 0)
  const packed = core.allocate(size)
  let offset = packed
  for (const part of parts) {
    core.memory().set(part, offset)
    offset += part.length
  }
  const address = core.program._pixReadMem(packed, size)
  core.program._free(packed)
  return address
}

/** Frees the memory of a picture. */
export function destroyPix(core: TesseractCore, address: number): void {
  const pointer = core.allocate(4)
  new DataView(core.memory().buffer).setUint32(pointer, address, true)
  core.program._pixDestroy(pointer)
  core.program._free(pointer)
}
