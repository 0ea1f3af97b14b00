import { mkdtempSync, readFileSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { execaSync } from 'execa'
import { afterAll, afterEach, beforeEach, describe, expect, it } from 'vitest'
import { removeFolder } from '../../../bench/lib/removed-folder.js'
import { type CompilerOptions, createCompiler } from '../../../src/engine/readers/compiler.js'
import type { CompileRequest, Compiler } from '../../../src/engine/store/compiled.js'
import { fixturePath } from './read.js'

/** Timeout of tests that count processor time, for a busy machine. */
const LONG_MS = 240_000

const folder = mkdtempSync(join(tmpdir(), 'ks-compile-'))
const open: Compiler[] = []

function compiler(options: CompilerOptions = {}): Compiler {
  const made = createCompiler(options)
  open.push(made)
  return made
}

function file(name: string, content: string | Buffer = `# ${name}\n\nText of ${name}.`): CompileRequest {
  const path = join(folder, name)
  writeFileSync(path, content)
  return { path, filename: name }
}

/** Process ids of the reading processes of this test process. */
function children(): number[] {
  const pids = readFileSync(`/proc/self/task/${process.pid}/children`, 'utf8').trim().split(' ').filter(Boolean)
  return pids.map(Number).filter((pid) => readFileSync(`/proc/${pid}/cmdline`, 'utf8').includes('readers/child.js'))
}

/** Processor time of a process, in milliseconds. */
function processorMs(pid: number): number {
  // Fields after the name, which may contain spaces: state is field 3, utime and stime are fields 14 and 15, in
  // hundredths of a second.
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ').at(-1)?.split(' ') ?? []
  return (Number(fields[11]) + Number(fields[12])) * 10
}

async function until(condition: () => boolean): Promise<void> {
  for (let i = 0; i < 4000 && !condition(); i++) await new Promise((resolve) => setTimeout(resolve, 25))
  expect(condition()).toBe(true)
}

beforeEach(() => {
  process.env.KS_FAULT = 'parse'
})

afterEach(async () => {
  delete process.env.KS_FAULT
  for (const made of open.splice(0)) await made.close()
})

afterAll(() => removeFolder(folder))

describe('the compiler', { timeout: LONG_MS }, () => {
  it('returns results in the order of the requests, with small and large files mixed', async () => {
    const requests = Array.from({ length: 150 }, (_, index) => file(`n${index}.md`))
    requests.splice(40, 0, { path: fixturePath('fake-memo.pdf'), filename: 'fake-memo.pdf' })
    requests.splice(90, 0, file('large.txt', 'some words here\n\n'.repeat(10_000)))
    const results = await compiler({ children: 2 }).compile(requests)
    expect(results).toHaveLength(requests.length)
    for (const [index, result] of results.entries()) {
      expect(result.ok).toBe(true)
      if (result.ok && requests[index]?.filename.startsWith('n'))
        expect(result.document.title).toBe(requests[index]?.filename)
    }
  })

  it('transfers picture bytes from the reading process', async () => {
    const [result] = await compiler().compile([{ path: fixturePath('contains-pictures.docx'), filename: 'p.docx' }])
    const picture =
      result?.ok === true ? result.document.assets.find(({ itemId }) => itemId.startsWith('image')) : undefined
    expect(picture?.bytes).toBeInstanceOf(Uint8Array)
  })

  it('F07: fails only the file that crashes the reading process, in a batch and alone', async () => {
    const requests = Array.from({ length: 20 }, (_, index) => file(index === 7 ? 'ks-fault-crash.md' : `c${index}.md`))
    const results = await compiler().compile(requests)
    expect(results.flatMap((result, index) => (result.ok ? [] : [[index, result.failure.code]]))).toEqual([
      [7, 'crashed'],
    ])
    const alone = await compiler().compile([file('ks-fault-crash.pdf'), file('after.md')])
    expect(alone.map((result) => (result.ok ? 'ok' : result.failure.code))).toEqual(['crashed', 'ok'])
  })

  it('F07: reads a file again if its reading process was killed from outside', async () => {
    const made = compiler().compile([file('ks-fault-hang.md')])
    // No start uses that much processor time: the process is reading and does not finish.
    await until(() => children().some((pid) => processorMs(pid) > 1500))
    // The next process has no fault.
    delete process.env.KS_FAULT
    for (const pid of children()) process.kill(pid, 'SIGKILL')
    expect((await made).map((result) => (result.ok ? 'ok' : result.failure.code))).toEqual(['ok'])
  })

  it('stops a file above the processor time limit, and reads the others of its batch', async () => {
    const requests = [file('a.md'), file('ks-fault-hang.md'), file('b.md')]
    const results = await compiler({ limits: { processorMs: 1500 } }).compile(requests)
    expect(results.map((result) => (result.ok ? 'ok' : result.failure))).toEqual([
      'ok',
      {
        code: 'timeout',
        message: expect.stringMatching(/^ks-fault-hang\.md needed more than 1\.5 s of processor time to read \(/),
      },
      'ok',
    ])
  })

  it('fails a file above the memory limit with a message that names the limit, and reads the next file', async () => {
    const limits = { memoryBytes: 200 * 1024 * 1024 }
    const [first, second] = await compiler({ limits }).compile([file('ks-fault-memory.pdf'), file('small.md')])
    expect(first).toEqual({
      ok: false,
      failure: {
        code: 'limit-exceeded',
        message: expect.stringMatching(/^ks-fault-memory\.pdf needed more than 200 MiB of memory to read \(/),
      },
    })
    expect(second?.ok).toBe(true)
  })

  it('starts another reading process after an idle one was killed', async () => {
    const made = compiler()
    await made.compile([file('a.md')])
    const [pid] = children()
    process.kill(pid!, 'SIGKILL')
    await until(() => children().length === 0)
    expect((await made.compile([file('b.md')]))[0]?.ok).toBe(true)
  })

  it('ends an idle reading process, and starts one again for the next file', async () => {
    const made = compiler({ idleMs: 50 })
    expect((await made.compile([file('a.md')]))[0]?.ok).toBe(true)
    await until(() => children().length === 0)
    expect((await made.compile([file('b.md')]))[0]?.ok).toBe(true)
  })

  it('rejects a call at once when its signal aborts, and still serves the calls of other callers', async () => {
    const made = compiler()
    await made.compile([file('warm.md')])
    const controller = new AbortController()
    const hanging = made.compile([file('ks-fault-hang.pdf')], controller.signal)
    const other = made.compile([file('other.md')])
    setTimeout(() => controller.abort(new Error('enough')), 50)
    await expect(hanging).rejects.toThrow('enough')
    expect((await other)[0]?.ok).toBe(true)
    await expect(made.compile([file('x.md')], controller.signal)).rejects.toThrow('enough')
  })

  it('rejects pending and later requests as unavailable after close, and ends all reading processes', async () => {
    const made = compiler()
    const pending = made.compile([file('ks-fault-hang.pdf')])
    const refused = expect(pending).rejects.toMatchObject({ code: 'unavailable' })
    await until(() => children().length > 0)
    await made.close()
    await refused
    await expect(made.compile([file('a.md')])).rejects.toMatchObject({ code: 'unavailable' })
    await until(() => children().length === 0)
  })

  it('finishes a call with one file before an earlier call with 400 files', async () => {
    const made = compiler()
    const many = Array.from({ length: 400 }, (_, index) => file(`many${index}.md`))
    let bigDone = false
    const big = made.compile(many).then(() => {
      bigDone = true
    })
    await made.compile([file('one.md')])
    expect(bigDone).toBe(false)
    await big
  })

  it('fails missing files, folders and pipes one by one, and reads the regular file among them', async () => {
    const pipe = join(folder, 'pipe.md')
    execaSync('mkfifo', [pipe])
    const results = await compiler().compile([
      { path: join(folder, 'nowhere.md'), filename: 'nowhere.md' },
      { path: folder, filename: basename(folder) },
      { path: pipe, filename: 'pipe.md' },
      file('fine.md'),
    ])
    expect(results.map((result) => (result.ok ? 'ok' : result.failure.message))).toEqual([
      'nowhere.md cannot be opened: ENOENT',
      `${basename(folder)} is not a regular file`,
      'pipe.md is not a regular file',
      'ok',
    ])
  })

  it('runs its reading processes without the environment of the daemon and with restricted permissions', async () => {
    process.env.SECRET_FOR_TEST = 'visible'
    const made = compiler()
    await made.compile([file('a.md')])
    delete process.env.SECRET_FOR_TEST
    const [pid] = children()
    const environment = readFileSync(`/proc/${pid}/environ`, 'utf8').split('\0').filter(Boolean)
    expect(
      environment
        .map((pair) => pair.split('=')[0])
        .filter((name) => name !== 'NODE_CHANNEL_FD' && name !== 'NODE_CHANNEL_SERIALIZATION_MODE')
        .sort(),
    ).toEqual(['KS_FAULT', 'MALLOC_ARENA_MAX', 'TZ'])
    expect(readFileSync(`/proc/${pid}/cmdline`, 'utf8')).toMatch(/--(?:experimental-)?permission/)
  })

  it('disables the network in its reading processes', () => {
    const url = new URL('../../../dist/engine/readers/no-network.js', import.meta.url)
    const script = `
      const { disableNetwork } = await import(${JSON.stringify(url.href)})
      disableNetwork()
      const net = await import('node:net'), dns = await import('node:dns'), http = await import('node:http')
      const tries = [() => net.connect(9), () => new net.Socket().connect(9), () => http.get('http://127.0.0.1:9'),
        () => dns.lookup('localhost', () => {}), () => fetch('http://127.0.0.1:9'), () => net.createServer().listen(0)]
      for (const attempt of tries) { try { await attempt(); console.log('open') } catch (error) { console.log(error.message) } }`
    const said = execaSync(process.execPath, ['--input-type=module', '-e', script]).stdout
    expect(new Set(said.trim().split('\n'))).toEqual(new Set(['the reading process has no network']))
  })

  it('reads 3,000 small notes in one reading process', async () => {
    const body = `Some ordinary words of a note that goes on for a while. `.repeat(15)
    const requests = Array.from({ length: 3000 }, (_, index) =>
      file(`s${index}.md`, `# Note ${index}\n\n${body}\n\n- a\n- b\n`),
    )
    const made = compiler()
    await made.compile(requests.slice(0, 1))
    const before = made.pids()
    const results = await made.compile(requests)
    expect(results.every((result) => result.ok)).toBe(true)
    expect(made.pids()).toEqual(before)
  })
})

describe('a warmed compiler', () => {
  it('keeps one reading process ready, which reads the next file and outlives the idle time', async () => {
    const warmed = compiler({ idleMs: 20 })
    warmed.warm()
    warmed.warm()
    const [result] = await warmed.compile([file('soon.md')])
    expect(result?.ok).toBe(true)
    expect(warmed.pids()).toHaveLength(1)
    expect(children()).toEqual(warmed.pids())
    const [pid] = warmed.pids()
    // Longer than the idle time, in which the process must not end.
    await new Promise((resolve) => setTimeout(resolve, 200))
    expect(warmed.pids()).toEqual([pid])
  })
})

describe('unreadable files', () => {
  it('fail one by one with a code and a reason, and the readable file among them is read', async () => {
    const names = ['password_protected.xlsx', 'password.pdf', 'single_table.pdf']
    const requests = [
      file('song.mp3', 'ID3\u0003'),
      file('old.doc', Buffer.from(`d0cf11e0a1b11ae1${Buffer.from('WordDocument', 'utf16le').toString('hex')}`, 'hex')),
      ...names.map((name) => ({ path: fixturePath(name), filename: name })),
      file('empty.txt', ''),
      file('blank.md', ' \n\n'),
      file('cut.docx', readFileSync(fixturePath('simple.docx')).subarray(0, 9000)),
      file('cut.pdf', readFileSync(fixturePath('fake-memo.pdf')).subarray(0, 300)),
      file('noise.bin', Buffer.from(Array.from({ length: 3000 }, (_, index) => (index * 7919) % 251))),
      file('broken.pdf', Buffer.from([0, 1, 2, 3, 4, 5, 6, 7, 0, 0, 1])),
      file('packed.7z', Buffer.from("7z\xbc\xaf'\x1c\0\x04", 'latin1')),
    ]
    const results = await compiler().compile(requests)
    const failures = results.map((result) =>
      result.ok ? `read ${result.document.mediaType}` : `${result.failure.code}: ${result.failure.message}`,
    )
    expect(failures).toEqual([
      expect.stringMatching(
        /^unsupported-type: song\.mp3 is a sound file \(audio\/mpeg\).*, `defaultTranscription` in the configuration of the daemon$/,
      ),
      'malformed: old.doc is not a readable compound file: CFB file size 32 < 512',
      'encrypted: password_protected.xlsx is protected by a password',
      'encrypted: password.pdf is protected by a password',
      'read application/pdf',
      'empty: empty.txt is empty',
      'empty: blank.md has no text',
      'malformed: cut.docx is a zip archive without a directory; it may be cut off',
      expect.stringMatching(/^malformed: cut\.pdf is not a readable PDF/),
      'unsupported-type: noise.bin is neither text nor of a known type, so it cannot be read',
      'malformed: broken.pdf does not match its name: its content is not a pdf file',
      'unsupported-type: packed.7z is a 7-Zip archive, which is not supported: pack it as ZIP or TAR.GZ',
    ])
  })
})
