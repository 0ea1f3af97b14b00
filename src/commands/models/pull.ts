import { statfsSync, statSync } from 'node:fs'
import * as Args from '@oclif/core/args'
import * as Flags from '@oclif/core/flags'
import { BaseCommand } from '../../cli/base-command.js'
import { CliError, usageError } from '../../cli/cli-error.js'
import { CATALOGUE } from '../../cli/models/pull/catalogue.js'
import { download, lookAt, type RemoteFile } from '../../cli/models/pull/download.js'
import { installRuntime } from '../../cli/models/pull/install-runtime.js'
import { type Origin, originOf } from '../../cli/models/pull/origin.js'
import {
  copyInto,
  describe,
  lockModels,
  openStage,
  publish,
  type Stage,
  sourceOf,
  taskOf,
  tryModel,
  verify,
} from '../../cli/models/pull/publish.js'
import { bar, Progress } from '../../cli/progress.js'
import { confirm } from '../../cli/prompt.js'
import { bytes as sizeText } from '../../cli/units.js'
import { EXIT } from '../../contract/errors.js'
import { sleep } from '../../lib/abort.js'
import { defined } from '../../lib/defined.js'
import { onDisk } from '../../local/disk-error.js'
import { sizeOf } from '../../local/file-system.js'
import { dataLayout } from '../../local/layout.js'
import { GgufError, readGguf } from '../../local/models/gguf.js'
import { type ModelTask, type PulledModel, pulledModels, referenceOf, TASKS } from '../../local/models/pulled.js'
import { isRuntimeInstalled, RUNTIME } from '../../local/models/runtime.js'

/** Size of the installed runtime, measured on Linux. */
const RUNTIME_BYTES = 85 * 1024 * 1024
/** Disk space that stays free for the daemon. */
const SPARE_BYTES = 32 * 1024 * 1024
const BAR_WIDTH = 24

export default class ModelsPull extends BaseCommand {
  static override summary = 'download a model to this machine after confirmation; the local daemon can then use it'
  static override description =
    'MODEL is a name from the catalogue, or the URL or path of a GGUF file. Size and licence are shown first, and nothing is downloaded without confirmation. The same command continues an interrupted download. The first model also installs the runtime from the npm registry. HF_ENDPOINT sets a mirror of the hub; HTTPS_PROXY, HTTP_PROXY and NO_PROXY are honoured.'
  static override examples = [
    '<%= config.bin %> models pull --list',
    '<%= config.bin %> models pull all-minilm-l6-v2',
    '<%= config.bin %> models pull ./my-model.gguf --yes',
  ]
  static override args = { model: Args.string({ description: 'name from the catalogue, URL, or path' }) }
  static override flags = {
    list: Flags.boolean({ description: 'list the catalogue and the models on this machine' }),
    task: Flags.option({ options: TASKS })({ description: 'task of the model, if its file does not state it' }),
  }

  async run(): Promise<void> {
    const { args, flags } = await this.parse(ModelsPull)
    const { models } = dataLayout(this.dirs.data)
    if (flags.list) return await this.listModels(models)
    if (args.model === undefined) throw usageError('a model is missing', '`ks models pull --list` lists the catalogue')
    const origin = originOf(args.model, process.env)
    if ('path' in origin.from) readHeader(origin, origin.from.path)
    if (flags.task !== undefined) origin.task = flags.task
    // Confirmed before any request is sent.
    if (!this.prompt.yes && !this.prompt.interactive) await confirm(`fetching ${origin.name}`, this.prompt)
    const remote = 'url' in origin.from ? await lookAt(origin.from.url) : { bytes: statSync(origin.from.path).size }
    const known = pulledModels(models).find(({ sha256 }) => sha256 === remote.sha256)
    if (known !== undefined && isRuntimeInstalled(models)) return this.report(known)
    this.announce(origin, remote, models)
    if (!(await confirm(`fetch ${origin.name}`, this.prompt))) return
    this.report(await onDisk(() => this.pull(models, origin, remote, known)))
  }

  /** @param known the pulled model, if only its runtime is missing */
  private async pull(
    models: string,
    origin: Origin,
    remote: RemoteFile,
    known: PulledModel | undefined,
  ): Promise<PulledModel> {
    const lock = await lockModels(models)
    try {
      const stage = known ?? openStage(models, origin.name)
      requireRoom(models, 'weights' in stage ? (remote.bytes ?? 0) - sizeOf(stage.weights) : 0)
      if (!isRuntimeInstalled(models)) {
        this.out.note(`fetching ${RUNTIME.name} ${RUNTIME.version}`)
        await installRuntime(models)
      }
      if (!('weights' in stage)) return stage
      await this.fetch(origin, remote, stage)
      const sha256 = await verify(stage, origin.entry?.sha256 ?? remote.sha256)
      const described = await describe(stage, origin, sha256, sizeOf(stage.weights))
      const { contextTokens, dimension } = await tryModel(models, stage, described)
      const model = { ...described, contextTokens, ...defined({ dimension }) }
      return { id: await publish(models, origin.name, stage, model), ...model }
    } finally {
      lock.release()
    }
  }

  private async fetch({ name, from }: Origin, expected: RemoteFile, stage: Stage): Promise<void> {
    let done = 0
    let total = expected.bytes
    const progress = new Progress({
      stream: process.stderr,
      live: this.out.isErrTerminal && !process.env.CI && process.env.TERM !== 'dumb',
      width: process.stderr.columns || 80,
      view: () => {
        const plain = `${name}: ${sizeText(done)}${total === undefined ? '' : ` of ${sizeText(total)}`}`
        const drawn = total === undefined ? '' : `${bar(done / total, BAR_WIDTH, this.out.symbols)} `
        return { lines: [`${drawn}${plain}`], plain }
      },
    })
    if (!this.out.isQuiet) progress.start()
    const onProgress = (bytes: number, stated = total) => {
      done = bytes
      total = stated
    }
    try {
      if ('path' in from) await copyInto(stage, from.path, onProgress)
      else await download({ url: from.url, expected, part: stage.weights, onProgress, wait: sleep })
    } finally {
      progress.stop()
    }
  }

  /** Shows task, size, licence and source of a model before its download. */
  private announce({ name, from, entry, task, license }: Origin, { bytes, sha256 }: RemoteFile, models: string): void {
    const size = bytes ?? entry?.bytes
    const facts = [
      ...(task === undefined ? [] : [`${task} model`]),
      ...(entry === undefined ? [] : [`languages: ${entry.languages}`]),
      size === undefined ? 'size not stated' : sizeText(size),
      `licence: ${entry?.license ?? license ?? 'as its source states it'}`,
    ]
    this.out.note(`${name}: ${facts.join(', ')}; from ${sourceOf(from)}`)
    if ('url' in from && sha256 === undefined && entry?.sha256 === undefined)
      this.out.note('its source states no SHA-256: only its size is checked')
    if (!isRuntimeInstalled(models))
      this.out.note(
        `${RUNTIME.name} ${RUNTIME.version}, its runtime: ${sizeText(RUNTIME_BYTES)}, licence: ${RUNTIME.license}; from the npm registry`,
      )
  }

  private report({ id, ...model }: PulledModel): void {
    const reference = referenceOf(id)
    this.out.record(
      { model: reference, ...model },
      { fields: ['model', 'task', 'bytes', 'license', 'contextTokens', 'dimension'] },
    )
    this.out.note(`hint: ${USES[model.task](reference)}`)
  }

  private async listModels(models: string): Promise<void> {
    const pulled = pulledModels(models)
    const isOf = (name: string) => (one: PulledModel) => one.id.startsWith(`${name}@`)
    const rows = [
      ...CATALOGUE.map(({ name, task, languages, license, bytes, isTested }) => ({
        name,
        task,
        languages,
        license,
        bytes,
        isTested,
        model: pulled
          .filter(isOf(name))
          .map(({ id }) => referenceOf(id))
          .join(', '),
      })),
      ...pulled
        .filter((one) => !CATALOGUE.some(({ name }) => isOf(name)(one)))
        .map(({ id, task, license = '', bytes }) => {
          const [name = id] = id.split('@')
          return { name, task, languages: '', license, bytes, isTested: false, model: referenceOf(id) }
        }),
    ]
    await this.out.list(rows, {
      columns: [
        { field: 'name', kind: 'name' },
        { field: 'task' },
        { field: 'languages' },
        { field: 'license', title: 'LICENCE' },
        { field: 'bytes', title: 'SIZE', kind: 'bytes' },
        { field: 'isTested', title: 'TESTED' },
        { field: 'model', title: 'ON THIS MACHINE', kind: 'name' },
      ],
      empty: 'The catalogue is empty.',
    })
  }
}

/** Sets task and licence from the header of a file. @throws CliError exit 2 if the file is not a model */
function readHeader(origin: Origin, path: string): void {
  try {
    const facts = readGguf(path)
    origin.task = taskOf(facts)
    if (facts.license !== undefined) origin.license = facts.license
  } catch (error) {
    throw error instanceof GgufError ? usageError(`${path} is not a model: it ${error.message}`) : error
  }
}

/** A hint to the command that uses a model, by its task. */
const USES: Readonly<Record<ModelTask, (reference: string) => string>> = {
  embedding: (reference) => `\`ks spaces set-embedding SPACE ${reference}\` uses it in a space`,
  rerank: (reference) => `\`ks spaces set-profile SPACE --rerank-model ${reference}\` uses it in a space`,
  chat: (reference) =>
    `\`ks config set defaultGenerator ${reference} --daemon\`, then \`ks daemon restart\`, makes it the default generator`,
}

function requireRoom(models: string, missing: number): void {
  const { bavail, bsize } = statfsSync(models)
  const needed = Math.max(0, missing) + SPARE_BYTES + (isRuntimeInstalled(models) ? 0 : RUNTIME_BYTES)
  const free = bavail * bsize
  if (free >= needed) return
  throw new CliError(`${sizeText(needed)} must be free on the disk of ${models}, but only ${sizeText(free)} are`, {
    code: 'storage-full',
    exit: EXIT.unavailable,
  })
}
