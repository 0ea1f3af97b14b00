/**
 * `kchat chat` in a real terminal while a model speaks fast: the processor time that a long answer costs, of the view and,
 * beside it, of `kchat send`; and how soon Ctrl-C in that burst reaches the model.
 */
import type { ChildProcess } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Writable } from 'node:stream'
import { setTimeout as sleep } from 'node:timers/promises'
import { execa } from 'execa'
import { KCHAT, privateEnv, startDaemon, temporaryFolder } from './lib/daemon.js'
import { percentile, report } from './lib/report.js'
import { startSlowModel } from './lib/slow-model.js'

const EVENTS = 1000
const WORDS = 3
const RUNS = Number(process.argv[2] ?? 3)
const CPU_BAR_S = 2
const STOP_BAR_MS = 200
const WAIT_MS = 40_000
const SCREEN_CHARS = 8000
/** how ink begins to write a frame: terminals that know it show the whole at once */
const FRAME_BEGINS = '\u001b[?2026h'
const CTRL_C = '\u0003'
const CTRL_D = '\u0004'

const home = temporaryFolder('bench-chat-view')
const model = await startSlowModel({ firstTokenMs: 50, tokens: EVENTS, tokenMs: 1, words: WORDS })
const provider = { pluginId: 'openai-compatible', provider: 'slow', baseUrl: model.url }
const dataDir = join(home.path, 'data')
const daemon = await startDaemon(dataDir, {
  KS_DAEMON_PROVIDERS: JSON.stringify([provider]),
  KS_DAEMON_DEFAULT_GENERATOR: 'openai-compatible/slow/slow',
})
try {
  const app = await daemon.client.request('POST /chat-apps', { body: { name: 'Bench' } })
  const { key: made } = await daemon.client.request('POST /chat-apps/{appId}/keys', { path: { appId: app.id } })
  const key = made ?? ''
  const env = privateEnv(dataDir, { KCHAT_API_KEY: key, TERM: 'xterm-256color', LANG: 'C.UTF-8' })
  const view: number[] = []
  const idle: number[] = []
  const plain: number[] = []
  const stops: number[] = []
  const redraws: number[] = []
  for (let run = 0; run < RUNS; run++) {
    const whole = await wholeAnswer(env, run)
    view.push(whole.cpu)
    idle.push(whole.idle)
    redraws.push(whole.redraws)
    plain.push(await cpuOfSend(env, run))
    stops.push(await stopped(env, run))
  }
  report('chat-view', [
    { name: 'events of an answer', value: EVENTS, unit: '' },
    { name: 'words of an answer', value: EVENTS * WORDS, unit: '' },
    { name: 'processor time of kchat chat, worst', value: Math.max(...view), unit: 's', bar: { atMost: CPU_BAR_S } },
    { name: 'of which its start, median', value: percentile(idle, 0.5), unit: 's' },
    { name: 'processor time of kchat send, worst', value: Math.max(...plain), unit: 's' },
    { name: 'redraws a second, most', value: Math.max(...redraws), unit: '', bar: { atMost: 31 } },
    { name: 'Ctrl-C until the model is let go, median', value: percentile(stops, 0.5), unit: 'ms' },
    {
      name: 'Ctrl-C until the model is let go, worst',
      value: Math.max(...stops),
      unit: 'ms',
      bar: { atMost: STOP_BAR_MS },
    },
  ])
} finally {
  await daemon.stop()
  await model.close()
  home.remove()
}

interface Terminal {
  pid: number
  child: Pick<ChildProcess, 'exitCode' | 'signalCode'> & { stdin: Writable }
  /** how often the view was drawn */
  frames: () => number
  shows: (text: string | RegExp) => Promise<void>
}

/** `script` gives a program a terminal of its own, and writes down what the program writes there. */
async function terminal(env: NodeJS.ProcessEnv, args: string[], name: string): Promise<Terminal> {
  const pidFile = join(home.path, `${name}.pid`)
  const words = [process.execPath, KCHAT, ...args].map((word) => `'${word}'`).join(' ')
  const command = `stty rows 30 cols 100; echo $$ > '${pidFile}'; exec ${words}`
  const child = execa('script', ['-qfec', command, '/dev/null'], {
    env: { ...env, SHELL: '/bin/sh' },
    extendEnv: false,
    buffer: false,
    reject: false,
  })
  // the screen as far as it is looked at, and how often it was drawn; all of it would be a hundred screens a second
  let text = ''
  let frames = 0
  child.stdout.setEncoding('utf8').on('data', (piece: string) => {
    text = (text + piece).slice(-SCREEN_CHARS)
    frames += piece.split(FRAME_BEGINS).length - 1
  })
  const shows = (wanted: string | RegExp) =>
    until(() => text.search(wanted) !== -1, `the terminal does not show ${wanted}`)
  await until(() => existsSync(pidFile) && readFileSync(pidFile, 'utf8').endsWith('\n'), 'kchat does not start')
  return { pid: Number(readFileSync(pidFile, 'utf8')), child, frames: () => frames, shows }
}

async function opened(env: NodeJS.ProcessEnv, name: string): Promise<Terminal> {
  const view = await terminal(env, ['chat'], name)
  await view.shows('/help')
  return view
}

async function left({ child }: Terminal): Promise<void> {
  child.stdin.write(CTRL_D)
  await until(() => child.exitCode !== null || child.signalCode !== null, 'kchat does not end')
}

async function wholeAnswer(
  env: NodeJS.ProcessEnv,
  run: number,
): Promise<{ cpu: number; idle: number; redraws: number }> {
  const view = await opened(env, `whole-${run}`)
  const idle = cpuSeconds(view.pid)
  view.child.stdin.write('Tell me the long story.\r')
  await view.shows('word0 ')
  const [began, before] = [performance.now(), view.frames()]
  await view.shows(`word${EVENTS * WORDS - 1}`)
  const seconds = (performance.now() - began) / 1000
  const redraws = (view.frames() - before) / seconds
  await sleep(200)
  const cpu = cpuSeconds(view.pid)
  await left(view)
  return { cpu, idle, redraws }
}

async function cpuOfSend(env: NodeJS.ProcessEnv, run: number): Promise<number> {
  const view = await terminal(env, ['send', 'Tell me the long story.'], `send-${run}`)
  let cpu = 0
  while (view.child.exitCode === null) {
    cpu = Math.max(cpu, cpuSeconds(view.pid))
    await sleep(20)
  }
  return cpu
}

/** Ctrl-C in the middle of the answer. @returns milliseconds until the connection of the model closes */
async function stopped(env: NodeJS.ProcessEnv, run: number): Promise<number> {
  const view = await opened(env, `stop-${run}`)
  view.child.stdin.write('Tell me the long story.\r')
  await view.shows(/word[3-9]\d\d\b/)
  const started = performance.now()
  const given = model.givenUp()
  view.child.stdin.write(CTRL_C)
  const ms = (await given) - started
  await view.shows('(stopped)')
  await left(view)
  return ms
}

async function until(holds: () => boolean, otherwise: string): Promise<void> {
  const deadline = performance.now() + WAIT_MS
  while (!holds()) {
    if (performance.now() > deadline) throw new Error(otherwise)
    await sleep(2)
  }
}

/** Processor time of a process so far; the kernel counts in hundredths of a second. */
function cpuSeconds(pid: number): number {
  try {
    const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]?.split(' ') ?? []
    return (Number(fields[11]) + Number(fields[12])) / 100
  } catch {
    return 0
  }
}
