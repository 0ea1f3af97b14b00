import { existsSync, mkdirSync, mkdtempSync, readdirSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { removeFolder } from '../../../../bench/lib/removed-folder.js'
import { createCompiler } from '../../../../src/engine/readers/compiler.js'
import { CONVERT_LIMITS } from '../../../../src/engine/readers/convert/run-converter.js'
import { withConverters } from '../../../../src/engine/readers/convert/with-converters.js'
import type { CompileResult, Compiler } from '../../../../src/engine/store/compiled.js'
import { createConfinement } from '../../../../src/local/confinement/confinement.js'
import { createPathWithout } from '../../../helpers/path-without.js'
import { isRunning } from '../../../helpers/running-process.js'
import { until } from '../../../helpers/until.js'
import { textOf } from '../read.js'

const MIB = 1024 * 1024
const LONG_MS = 120_000
/** Neither text nor a known format. */
const BYTES = Buffer.from(Array.from({ length: 3000 }, (_, index) => (index * 7919) % 251))

const folder = mkdtempSync(join(tmpdir(), 'ks-converting-'))
const compiler: Compiler = createCompiler()
const confinement = createConfinement({
  listSecrets: () => [],
  allowUnconfined: false,
  log: { warn() {}, info() {} },
})
/** Folder for the temporary files of conversions. */
const workshop = join(folder, 'tmp')
const before = process.env.TMPDIR

beforeAll(() => {
  mkdirSync(workshop)
  process.env.TMPDIR = workshop
})
afterEach(() => {
  // No conversion leaves files behind, however it ends.
  expect(readdirSync(workshop)).toEqual([])
})
afterAll(async () => {
  if (before === undefined) delete process.env.TMPDIR
  else process.env.TMPDIR = before
  await compiler.close()
  removeFolder(folder)
})

/** Converts a file with a program of this source; `input` and `outdir` are its arguments. */
async function convert(
  script: string,
  {
    limits = {},
    args = ['{input}', '{outdir}'],
    filename = 'Old letter.wxz',
    signal,
    confinement: how = confinement,
  }: {
    limits?: Partial<typeof CONVERT_LIMITS>
    args?: string[]
    filename?: string
    signal?: AbortSignal
    confinement?: typeof confinement
  } = {},
): Promise<CompileResult> {
  const program = join(folder, 'converter.cjs')
  writeFileSync(
    program,
    `const fs = require('node:fs'), { spawn } = require('node:child_process')
     const [input, outdir] = process.argv.slice(2);
     ${script}`,
  )
  const path = join(folder, 'given')
  writeFileSync(path, BYTES)
  const argv = [process.execPath, program, ...args]
  const converting = withConverters(compiler, [{ types: ['wxz'], argv }], how, { ...CONVERT_LIMITS, ...limits })
  const [result] = await converting.compile([{ path, filename }], signal)
  if (result === undefined) throw new Error('no result')
  return result
}

const reasonOf = (result: CompileResult) => (result.ok ? 'it was read' : result.failure.message)

describe('a file of an unreadable type', { timeout: LONG_MS }, () => {
  it('passes through the converter for its extension, and the file that the converter writes is read', async () => {
    const result = await convert(`fs.writeFileSync(outdir + '/letter.html', '<h1>Dear Ida</h1><p>The ferry sails at ' +
      fs.readFileSync(input).length + '.</p>')`)
    expect(reasonOf(result)).toBe('it was read')
    if (!result.ok) return
    expect(await textOf(result.document)).toContain('The ferry sails at 3000.')
    expect(result.document).toMatchObject({
      mediaType: 'text/html',
      metadata: { convertedBy: expect.stringMatching(/^node/), convertedFrom: 'application/octet-stream' },
    })
  })

  it('may be read from the standard output of its converter', async () => {
    const result = await convert(`process.stdout.write('Said on the output.')`, { args: ['{input}'] })
    expect(result.ok && (await textOf(result.document))).toBe('Said on the output.')
  })

  it('fails as unsupported without a converter for its extension; a readable file starts no converter', async () => {
    expect(reasonOf(await convert('', { filename: 'other.abc' }))).toMatch(/neither text nor of a known type/)
    const path = join(folder, 'plain.txt')
    writeFileSync(path, 'Plain words.')
    const never = withConverters(
      compiler,
      [{ types: ['txt', 'text/plain'], argv: ['/no/such/program', '{input}'] }],
      confinement,
    )
    expect((await never.compile([{ path, filename: 'plain.txt' }])).map(({ ok }) => ok)).toEqual([true])
  })

  it('starts its converter with a separate home, without variables of the daemon and without a shell', async () => {
    process.env.SECRET_FOR_TEST = 'visible'
    const result = await convert(
      `fs.writeFileSync(outdir + '/a.txt', 'It has ' + JSON.stringify([Object.keys(process.env).filter((name) => name !== 'PWD').sort(), process.env.HOME === process.cwd(),
        outdir.startsWith(process.cwd()), input.endsWith('/input.wxz')]))`,
      { filename: '$(touch pwned); -o x.wxz' },
    )
    delete process.env.SECRET_FOR_TEST
    expect(result.ok && JSON.parse((await textOf(result.document)).replace('It has ', ''))).toEqual([
      ['HOME', 'KS_CONVERSION', 'LANG', 'PATH', 'TMPDIR', 'TZ'],
      true,
      true,
      true,
    ])
  })

  it('starts its converter without access to the network', async () => {
    const server = createServer((_, response) => response.end('here')).listen(0, '127.0.0.1')
    await until(() => server.listening)
    const { port } = server.address() as AddressInfo
    const result =
      await convert(`require('node:http').get('http://127.0.0.1:${port}', () => done('open')).on('error', (e) => done(e.code))
      function done(what) { fs.writeFileSync(outdir + '/a.txt', 'network: ' + what); process.exit() }`)
    server.close()
    expect(result.ok && (await textOf(result.document))).toMatch(/^network: E(NETUNREACH|CONNREFUSED|ADDRNOTAVAIL)$/)
  })
})

describe('a machine that cannot confine converters', { timeout: LONG_MS }, () => {
  const script = `spawn('env', ['-i', 'setsid', process.execPath, '-e', 'process.chdir("/"); setInterval(() => {}, 1000) // ks-survivor'],
      { detached: true, stdio: ['ignore', 'ignore', 'ignore', 3] }).unref()
      fs.writeFileSync(outdir + '/a.txt', 'converted')`
  const converting = async (allowUnconfined: boolean) => {
    const path = process.env.PATH
    process.env.PATH = createPathWithout(['bwrap', 'unshare'], join(folder, `without-${allowUnconfined}`))
    const without = createConfinement({ listSecrets: () => [], allowUnconfined, log: { warn() {}, info() {} } })
    try {
      return await convert(script, { confinement: without })
    } finally {
      process.env.PATH = path
    }
  }

  it('fails the file to be converted, and names the setting unconfinedPrograms', async () => {
    const result = await converting(false)
    expect(result).toMatchObject({ ok: false, failure: { code: 'unsupported-type' } })
    expect(reasonOf(result)).toMatch(/Old letter\.wxz could not be converted: node is not started.*unconfinedPrograms/)
  })

  it('converts the file if the operator allows it, and ends a converter process that left its session', async () => {
    expect(reasonOf(await converting(true))).toBe('it was read')
    expect(isRunning('ks-survivor')).toBe(false)
  })
})

describe('the control of a converter', { timeout: LONG_MS }, () => {
  it('kills the converter at the time limit', async () => {
    const result = await convert('setInterval(() => {}, 1000) // ks-hanging', { limits: { wallMs: 1500 } })
    expect(result).toMatchObject({ ok: false, failure: { code: 'limit-exceeded' } })
    expect(reasonOf(result)).toMatch(/Old letter\.wxz could not be converted: node\S* took longer than 1\.5 s/)
    expect(isRunning('converter.cjs')).toBe(false)
  })

  it('ends processes that the converter leaves running', async () => {
    const result = await convert(`spawn(process.execPath, ['-e', 'setInterval(() => {}, 1000) // ks-left-behind'],
      { detached: true, stdio: 'ignore' }).unref()
      fs.writeFileSync(outdir + '/a.txt', 'made')`)
    expect(reasonOf(result)).toBe('it was read')
    await until(() => !isRunning('ks-left-behind'))
  })

  it('kills the converter with all its processes if it starts more than the limit', async () => {
    const result = await convert(
      `setInterval(() => spawn(process.execPath, ['-e', 'setInterval(() => {}, 1000) // ks-many'], { detached: true }), 50)`,
      { limits: { processes: 6 } },
    )
    expect(reasonOf(result)).toMatch(/started more than 6 processes/)
    await until(() => !isRunning('ks-many'))
  })

  it('kills the converter if it writes above the output limit to one file, many files or stdout', async () => {
    const limits = { outputBytes: 8 * MIB }
    const one = `const fd = fs.openSync(outdir + '/a.txt', 'w'); for (;;) fs.writeSync(fd, Buffer.alloc(1 << 20, 97))`
    expect((await convert(one, { limits })).ok).toBe(false)
    const many = `for (let n = 0; ; n++) fs.writeFileSync(outdir + '/' + n + '.txt', Buffer.alloc(1 << 20, 97))`
    expect(reasonOf(await convert(many, { limits }))).toMatch(/made more than 8 MiB/)
    const said = `(function go() { process.stdout.write(Buffer.alloc(1 << 20, 97), go) })()`
    expect(reasonOf(await convert(said, { limits, args: ['{input}'] }))).toMatch(/made more than 8 MiB/)
  })

  it('kills the converter if it uses more memory than its limit', async () => {
    const result = await convert('const held = []; setInterval(() => held.push(Buffer.alloc(32 << 20, 1)), 20)', {
      limits: { memoryBytes: 200 * MIB },
    })
    expect(reasonOf(result)).toMatch(/took more than 200 MiB of memory/)
  })

  it('fails the file with the reason if the converter fails, writes no file or is missing', async () => {
    expect(reasonOf(await convert(`console.error('no filter for this'); process.exit(3)`))).toMatch(
      /ended with code 3: no filter for this/,
    )
    expect(reasonOf(await convert(''))).toMatch(/made no file/)
    const path = join(folder, 'given')
    const argv = ['/no/such/converter', '{input}']
    const [absent] = await withConverters(compiler, [{ types: ['wxz'], argv }], confinement).compile([
      { path, filename: 'a.wxz' },
    ])
    expect(absent === undefined ? '' : reasonOf(absent)).toMatch(/a\.wxz could not be converted: converter /)
  })

  it('reads no target of a symbolic link that the converter writes', async () => {
    const secret = join(folder, 'secret.txt')
    writeFileSync(secret, 'Nobody may read this.')
    const linked = await convert(`fs.symlinkSync(${JSON.stringify(secret)}, outdir + '/a.txt')`)
    expect(reasonOf(linked)).toMatch(/made no file/)
    const above = `fs.rmdirSync(outdir); fs.symlinkSync(${JSON.stringify(folder)}, outdir)`
    expect(reasonOf(await convert(above))).not.toBe('it was read')
  })

  it('fails the file if the converted file is unreadable too, and converts no second time', async () => {
    const again = await convert(`fs.copyFileSync(input, outdir + '/again.wxz')`)
    expect(reasonOf(again)).toMatch(/was converted by node\S*, and Old letter\.wxz is neither text nor/)
  })

  it('kills the converter when the caller aborts', async () => {
    const controller = new AbortController()
    const running = convert('setInterval(() => {}, 1000) // waits', { signal: controller.signal })
    const gaveUp = expect(running).rejects.toThrow('enough')
    await until(() => isRunning('converter.cjs'))
    controller.abort(new Error('enough'))
    await gaveUp
    await until(() => !isRunning('converter.cjs'))
    expect(existsSync(workshop)).toBe(true)
  })
})
