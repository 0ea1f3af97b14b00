import { statfsSync, statSync } from 'node:fs'
import * as Args from '@oclif/core/args'
import * as Flags from '@oclif/core/flags'
import { BaseCommand } from '../../cli/base-command.js'
import { CliError, usageError } from '../../cli/cli-error.js'
import type { CatalogueRow, PulledModelOutput } from '../../cli/json-output/models.js'
import { CATALOGUE } from '../../cli/models/pull/catalogue.js'
import { download, type RemoteFile, requestFileInfo } from '../../cli/models/pull/download.js'
import { installRuntime } from '../../cli/models/pull/install-runtime.js'
import { type ModelOrigin, parseModelOrigin } from '../../cli/models/pull/origin.js'
import {
  copyToStage,
  describeModel,
  formatSource,
  inferTask,
  lockModels,
  type ModelStage,
  openStage,
  publishModel,
  tryModel,
  verifyHash,
} from '../../cli/models/pull/publish.js'
import { Progress, renderBar } from '../../cli/progress.js'
import { confirm } from '../../cli/prompt.js'
import { formatBytes } from '../../cli/units.js'
import { EXIT } from '../../contract/errors.js'
import { sleep } from '../../lib/abort.js'
import { omitUndefined } from '../../lib/omit-undefined.js'
import { withDiskErrors } from '../../local/disk-error.js'
import { getFileSize } from '../../local/file-system.js'
import { resolveDataLayout } from '../../local/layout.js'
import { GgufError, readGguf } from '../../local/models/gguf.js'
import {
  listPulledModels,
  MODEL_TASKS,
  type ModelTask,
  type PulledModel,
  toModelReference,
} from '../../local/models/pulled.js'
import { isRuntimeInstalled, RUNTIME } from '../../local/models/runtime.js'

/** Size of the installed runtime, as measured on Linux. */
const RUNTIME_BYTES = 85 * 1024 * 1024
/** Disk space that stays free for the daemon. */
const RESERVED_BYTES = 32 * 1024 * 1024
const BAR_WIDTH = 24

export default class ModelsPull extends BaseCommand {
  static override summary = 'download a model to this machine after confirmation; the local daemon can then use it'
  static override isLocalOnly = true
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
    task: Flags.option({ options: MODEL_TASKS })({ description: 'task of the model, if its file does not state it' }),
  }

  async run(): Promise<void> {
    const { args, flags } = await this.parse(ModelsPull)
    const { models } = resolveDataLayout(this.dirs.data)
    if (flags.list) return await this.listModels(models)
    if (args.model === undefined) throw usageError('a model is missing', '`ks models pull --list` lists the catalogue')
    const origin = parseModelOrigin(args.model, process.env)
    if ('path' in origin.from) readHeader(origin, origin.from.path)
    if (flags.task !== undefined) origin.task = flags.task
    // Confirmed before any request is sent.
    if (!this.prompt.yes && !this.prompt.interactive) await confirm(`fetching ${origin.name}`, this.prompt)
    const remote =
      'url' in origin.from ? await requestFileInfo(origin.from.url) : { bytes: statSync(origin.from.path).size }
    const pulledModel = listPulledModels(models).find(({ sha256 }) => sha256 === remote.sha256)
    if (pulledModel !== undefined && isRuntimeInstalled(models)) return this.printModel(pulledModel)
    this.describeDownload(origin, remote, models)
    if (!(await confirm(`fetch ${origin.name}`, this.prompt))) return
    this.printModel(await withDiskErrors(() => this.pullModel(models, origin, remote, pulledModel)))
  }

  /** @param pulledModel the model on this machine, if only its runtime is missing */
  private async pullModel(
    models: string,
    origin: ModelOrigin,
    remote: RemoteFile,
    pulledModel: PulledModel | undefined,
  ): Promise<PulledModel> {
    const lock = await lockModels(models)
    try {
      const stage = pulledModel ?? openStage(models, origin.name)
      assertFreeSpace(models, 'weights' in stage ? (remote.bytes ?? 0) - getFileSize(stage.weights) : 0)
      if (!isRuntimeInstalled(models)) {
        this.out.note(`fetching ${RUNTIME.name} ${RUNTIME.version}`)
        await installRuntime(models)
      }
      if (!('weights' in stage)) return stage
      await this.downloadModel(origin, remote, stage)
      const sha256 = await verifyHash(stage, origin.entry?.sha256 ?? remote.sha256)
      const described = await describeModel(stage, origin, sha256, getFileSize(stage.weights))
      const { contextTokens, dimension } = await tryModel(models, stage, described)
      const model = { ...described, contextTokens, ...omitUndefined({ dimension }) }
      return { id: await publishModel(models, origin.name, stage, model), ...model }
    } finally {
      lock.release()
    }
  }

  private async downloadModel({ name, from }: ModelOrigin, expected: RemoteFile, stage: ModelStage): Promise<void> {
    let doneBytes = 0
    let totalBytes = expected.bytes
    const progress = new Progress({
      stream: process.stderr,
      live: this.out.isErrTerminal && !process.env.CI && process.env.TERM !== 'dumb',
      width: process.stderr.columns || 80,
      view: () => {
        const plain = `${name}: ${formatBytes(doneBytes)}${totalBytes === undefined ? '' : ` of ${formatBytes(totalBytes)}`}`
        const progressBar =
          totalBytes === undefined ? '' : `${renderBar(doneBytes / totalBytes, BAR_WIDTH, this.out.symbols)} `
        return { lines: [`${progressBar}${plain}`], plain }
      },
    })
    if (!this.out.isQuiet) progress.start()
    const onProgress = (bytes: number, statedTotalBytes = totalBytes) => {
      doneBytes = bytes
      totalBytes = statedTotalBytes
    }
    try {
      if ('path' in from) await copyToStage(stage, from.path, onProgress)
      else await download({ url: from.url, expected, part: stage.weights, onProgress, wait: sleep })
    } finally {
      progress.stop()
    }
  }

  /** Shows task, size, licence and source of a model before its download. */
  private describeDownload(
    { name, from, entry, task, license }: ModelOrigin,
    { bytes, sha256 }: RemoteFile,
    models: string,
  ): void {
    const size = bytes ?? entry?.bytes
    const facts = [
      ...(task === undefined ? [] : [`${task} model`]),
      ...(entry === undefined ? [] : [`languages: ${entry.languages}`]),
      size === undefined ? 'size not stated' : formatBytes(size),
      `licence: ${entry?.license ?? license ?? 'as its source states it'}`,
    ]
    this.out.note(`${name}: ${facts.join(', ')}; from ${formatSource(from)}`)
    if ('url' in from && sha256 === undefined && entry?.sha256 === undefined)
      this.out.note('its source states no SHA-256: only its size is checked')
    if (!isRuntimeInstalled(models))
      this.out.note(
        `${RUNTIME.name} ${RUNTIME.version}, its runtime: ${formatBytes(RUNTIME_BYTES)}, licence: ${RUNTIME.license}; from the npm registry`,
      )
  }

  private printModel({ id, ...model }: PulledModel): void {
    const reference = toModelReference(id)
    this.out.record({ model: reference, ...model } satisfies PulledModelOutput)
    this.out.note(`hint: ${USAGE_HINTS[model.task](reference)}`)
  }

  private async listModels(models: string): Promise<void> {
    const pulled = listPulledModels(models)
    const isVersionOf = (name: string) => (model: PulledModel) => model.id.startsWith(`${name}@`)
    const rows: CatalogueRow[] = [
      ...CATALOGUE.map(({ name, task, languages, license, bytes, isTested }) => ({
        name,
        task,
        languages,
        license,
        bytes,
        isTested,
        model: pulled
          .filter(isVersionOf(name))
          .map(({ id }) => toModelReference(id))
          .join(', '),
      })),
      ...pulled
        .filter((model) => !CATALOGUE.some(({ name }) => isVersionOf(name)(model)))
        .map(({ id, task, license = '', bytes }) => {
          const [name = id] = id.split('@')
          return { name, task, languages: '', license, bytes, isTested: false, model: toModelReference(id) }
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
function readHeader(origin: ModelOrigin, path: string): void {
  try {
    const facts = readGguf(path)
    origin.task = inferTask(facts)
    if (facts.license !== undefined) origin.license = facts.license
  } catch (error) {
    throw error instanceof GgufError ? usageError(`${path} is not a model: it ${error.message}`) : error
  }
}

/** Hints at the command that uses a model, by the model's task. */
const USAGE_HINTS: Readonly<Record<ModelTask, (reference: string) => string>> = {
  embedding: (reference) => `\`ks spaces update SPACE --embedding ${reference}\` uses it in a space`,
  rerank: (reference) => `\`ks spaces update SPACE --rerank-model ${reference}\` uses it in a space`,
  chat: (reference) =>
    `\`ks config defaultGenerator ${reference} --daemon\`, then \`ks daemon restart\`, makes it the default generator`,
}

/** @throws CliError exit 8 if the disk has too little space for the missing bytes of a model and its runtime */
function assertFreeSpace(models: string, missingBytes: number): void {
  const { bavail, bsize } = statfsSync(models)
  const neededBytes = Math.max(0, missingBytes) + RESERVED_BYTES + (isRuntimeInstalled(models) ? 0 : RUNTIME_BYTES)
  const freeBytes = bavail * bsize
  if (freeBytes >= neededBytes) return
  const message = `${formatBytes(neededBytes)} must be free on the disk of ${models}, but only ${formatBytes(freeBytes)} are`
  throw new CliError(message, { code: 'storage-full', exit: EXIT.unavailable })
}
