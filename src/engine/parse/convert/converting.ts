import { lstatSync, readdirSync } from 'node:fs'
import { copyFile, mkdir, mkdtemp, realpath, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import type { Confinement } from '../../../local/confinement/confinement.js'
import type { CompileFailure, CompileRequest, CompileResult, Compiler } from '../compiled.js'
import { ReadError } from '../limits.js'
import { endingOf } from '../sniff.js'
import { CONVERT_LIMITS, type Converter, type ConvertLimits, runConverter } from './run-converter.js'

/** Endings of files that a converter may leave next to the document that it made. */
const BESIDE = /\.(?:png|jpe?g|gif|svg|webp|bmp|css|js|log|tmp)$/i

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
      for (const [place, request] of requests.entries()) {
        const result = results[place]
        if (result === undefined || result.ok) continue
        const converter = converterFor(converters, request, result.failure)
        if (converter === undefined) continue
        results[place] = await convert(compiler, {
          request,
          converter,
          from: result.failure,
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

function converterFor(
  converters: readonly Converter[],
  { filename, declaredType }: CompileRequest,
  { code, mediaType }: CompileFailure,
): Converter | undefined {
  if (code !== 'unsupported-type') return undefined
  // The declared type counts only where the content determines none.
  const known =
    mediaType === 'application/octet-stream' ? declaredType?.split(';', 1)[0]?.trim().toLowerCase() : mediaType
  const ending = endingOf(filename)
  return converters.find(({ types }) => types.includes(ending) || (known !== undefined && types.includes(known)))
}

interface Convert {
  request: CompileRequest
  converter: Converter
  from: CompileFailure
  confinement: Confinement
  limits: ConvertLimits
  signal: AbortSignal | undefined
}

async function convert(compiler: Compiler, { request, converter, from, ...how }: Convert): Promise<CompileResult> {
  const { filename } = request
  const name = basename(converter.argv[0] ?? '')
  const folder = await realpath(await mkdtemp(join(tmpdir(), 'ks-convert-')))
  try {
    const made = await makeFile(request, converter, name, { ...how, folder })
    const [result] = await compiler.compile(
      [{ path: made, root: join(folder, 'out'), filename: nameOf(filename, made) }],
      how.signal,
    )
    if (result?.ok !== true) {
      const reason = result === undefined ? 'nothing came of it' : result.failure.message
      return failed(result?.failure.code ?? 'malformed', `${filename} was converted by ${name}, and ${reason}`)
    }
    const metadata = {
      ...result.document.metadata,
      convertedBy: name,
      convertedFrom: from.mediaType ?? endingOf(filename),
    }
    return { ok: true, document: { ...result.document, metadata } }
  } catch (error) {
    if (error instanceof ReadError) return failed(error.code, `${filename} could not be converted: ${error.message}`)
    throw error
  } finally {
    await rm(folder, { recursive: true, force: true, maxRetries: 5 })
  }
}

/** Runs a converter and returns the path of the file that it made. @throws ReadError */
async function makeFile(
  { path, filename }: CompileRequest,
  converter: Converter,
  name: string,
  { folder, ...how }: Pick<Convert, 'confinement' | 'limits' | 'signal'> & { folder: string },
): Promise<string> {
  const outdir = join(folder, 'out')
  await mkdir(outdir)
  const ending = endingOf(filename)
    .replace(/[^a-z0-9]/g, '')
    .slice(0, 16)
  // A generated name: the original could look like an option or lead to another folder.
  const input = join(folder, ending === '' ? 'input' : `input.${ending}`)
  await copyFile(path, input)
  const { argv } = converter
  const filled = argv.map((word) => word.replaceAll('{input}', input).replaceAll('{outdir}', outdir))
  const saysTo = argv.some((word) => word.includes('{outdir}')) ? undefined : join(outdir, 'said')
  await runConverter({ name, converter, filled, folder, saysTo, ...how })
  const made = readdirSync(outdir)
    .flatMap((entry) => {
      const there = lstatSync(join(outdir, entry))
      return there.isFile() && there.size > 0 && !BESIDE.test(entry) ? [{ entry, size: there.size }] : []
    })
    .sort((a, b) => b.size - a.size)[0]
  if (made === undefined) throw new ReadError('malformed', `${name} made no file`)
  return join(outdir, made.entry)
}

/** Name of the output: that of the input with the ending of the output. */
function nameOf(filename: string, made: string): string {
  const ending = endingOf(made)
  const own = endingOf(filename)
  const bare = own === '' ? filename : filename.slice(0, -own.length - 1)
  return ending === '' ? bare : `${bare}.${ending}`
}

function failed(code: CompileFailure['code'], message: string): CompileResult {
  return { ok: false, failure: { code, message } }
}
