import { lstatSync, readdirSync } from 'node:fs'
import { copyFile, mkdir, mkdtemp, realpath, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import type { Confinement } from '../../../local/confinement/confinement.js'
import type { CompileFailure, CompileRequest, CompileResult, Compiler } from '../../store/compiled.js'
import { ReadError } from '../limits.js'
import { getFileEnding } from '../sniff.js'
import { CONVERT_LIMITS, type Converter, type ConvertLimits, runConverter } from './run-converter.js'

/** Endings of files that a converter may leave next to the document that it made. */
const SIDE_FILE = /\.(?:png|jpe?g|gif|svg|webp|bmp|css|js|log|tmp)$/i

/**
 * A compiler that converts files of unsupported types first, with programs of the operator. The reading process reads
 * their output like any other untrusted file.
 */
export function withConverters(
  compiler: Compiler,
  converters: readonly Converter[],
  confinement: Confinement,
  limits: ConvertLimits = CONVERT_LIMITS,
): Compiler {
  if (converters.length === 0) return compiler
  return {
    async compile(requests, signal, listeners) {
      const results = await compiler.compile(requests, signal, listeners)
      for (const [index, request] of requests.entries()) {
        const result = results[index]
        if (result === undefined || result.ok) continue
        const converter = findConverter(converters, request, result.failure)
        if (converter === undefined) continue
        results[index] = await convertAndCompile(compiler, {
          request,
          converter,
          originalFailure: result.failure,
          confinement,
          limits,
          signal,
        })
      }
      return results
    },
    warm: () => compiler.warm(),
    pids: () => compiler.pids(),
    close: () => compiler.close(),
  }
}

function findConverter(
  converters: readonly Converter[],
  { filename, declaredType }: CompileRequest,
  { code, mediaType }: CompileFailure,
): Converter | undefined {
  if (code !== 'unsupported-type') return undefined
  // The declared type counts only where the content determines none.
  const actualType =
    mediaType === 'application/octet-stream' ? declaredType?.split(';', 1)[0]?.trim().toLowerCase() : mediaType
  const ending = getFileEnding(filename)
  return converters.find(
    ({ types }) => types.includes(ending) || (actualType !== undefined && types.includes(actualType)),
  )
}

interface ConversionRequest {
  request: CompileRequest
  converter: Converter
  originalFailure: CompileFailure
  confinement: Confinement
  limits: ConvertLimits
  signal: AbortSignal | undefined
}

async function convertAndCompile(
  compiler: Compiler,
  { request, converter, originalFailure, ...options }: ConversionRequest,
): Promise<CompileResult> {
  const { filename } = request
  const name = basename(converter.argv[0] ?? '')
  const folder = await realpath(await mkdtemp(join(tmpdir(), 'ks-convert-')))
  try {
    const outputPath = await runConversion(request, converter, name, { ...options, folder })
    const [result] = await compiler.compile(
      [{ path: outputPath, root: join(folder, 'out'), filename: makeOutputName(filename, outputPath) }],
      options.signal,
    )
    if (result?.ok !== true) {
      const detail = result === undefined ? 'no result was returned' : result.failure.message
      return toFailure(result?.failure.code ?? 'malformed', `${filename} was converted by ${name}, and ${detail}`)
    }
    const metadata = {
      ...result.document.metadata,
      convertedBy: name,
      convertedFrom: originalFailure.mediaType ?? getFileEnding(filename),
    }
    return { ok: true, document: { ...result.document, metadata } }
  } catch (error) {
    if (error instanceof ReadError) return toFailure(error.code, `${filename} could not be converted: ${error.message}`)
    throw error
  } finally {
    await rm(folder, { recursive: true, force: true, maxRetries: 5 })
  }
}

/** Runs a converter and returns the path of the file that it made. @throws ReadError */
async function runConversion(
  { path, filename }: CompileRequest,
  converter: Converter,
  name: string,
  { folder, ...options }: Pick<ConversionRequest, 'confinement' | 'limits' | 'signal'> & { folder: string },
): Promise<string> {
  const outdir = join(folder, 'out')
  await mkdir(outdir)
  const ending = getFileEnding(filename)
    .replace(/[^a-z0-9]/g, '')
    .slice(0, 16)
  // A generated name: the original could look like an option or lead to another folder.
  const input = join(folder, ending === '' ? 'input' : `input.${ending}`)
  await copyFile(path, input)
  const { argv } = converter
  const filled = argv.map((argument) => argument.replaceAll('{input}', input).replaceAll('{outdir}', outdir))
  const stdoutFile = argv.some((argument) => argument.includes('{outdir}')) ? undefined : join(outdir, 'output')
  await runConverter({ name, converter, commandLine: filled, folder, stdoutFile, ...options })
  const outputFile = readdirSync(outdir)
    .flatMap((entry) => {
      const stats = lstatSync(join(outdir, entry))
      return stats.isFile() && stats.size > 0 && !SIDE_FILE.test(entry) ? [{ entry, size: stats.size }] : []
    })
    .sort((a, b) => b.size - a.size)[0]
  if (outputFile === undefined) throw new ReadError('malformed', `${name} made no file`)
  return join(outdir, outputFile.entry)
}

/** Name of the output: that of the input with the ending of the output. */
function makeOutputName(filename: string, outputPath: string): string {
  const ending = getFileEnding(outputPath)
  const inputEnding = getFileEnding(filename)
  const baseName = inputEnding === '' ? filename : filename.slice(0, -inputEnding.length - 1)
  return ending === '' ? baseName : `${baseName}.${ending}`
}

function toFailure(code: CompileFailure['code'], message: string): CompileResult {
  return { ok: false, failure: { code, message } }
}
