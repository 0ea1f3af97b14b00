import * as Args from '@oclif/core/args'
import * as Flags from '@oclif/core/flags'
import { BaseCommand } from '../../cli/base-command.js'
import { CliError, ExitWith } from '../../cli/cli-error.js'
import { getDaemonConfigPath, readConfiguredProviders } from '../../cli/daemon-config.js'
import { readJsonObject } from '../../cli/json-file.js'
import type { DetectedModel, ModelTestRow } from '../../cli/json-output/models.js'
import { OPENAI_COMPATIBLE, toModelServer } from '../../cli/models/configured.js'
import { detectServers, guessPurpose } from '../../cli/models/detect.js'
import { probeModel } from '../../cli/models/probe.js'
import { EXIT } from '../../contract/errors.js'
import type { ProviderSetting } from '../../local/provider-setting.js'
import { SETTINGS } from '../../local/settings.js'

const TIMEOUT_SECONDS = 60
const USES = ['chat', 'embedding', 'rerank', 'speech', 'transcription'] as const

export default class ModelsTest extends BaseCommand {
  static override summary =
    'test the abilities of configured models, with latencies; exits with 10 if a model fails at its main task'
  static override description =
    'Sends one small request for each ability: chat, answers (a question about a built-in page), stream, tools, json, vision, embeddings, rerank, audio. Only providers of the local settings are tested.'
  static override examples = ['<%= config.bin %> models test', '<%= config.bin %> models test --json']
  static override args = {
    name: Args.string({
      description: 'a provider, or PROVIDER/MODEL (default: the default models and all providers)',
    }),
  }
  static override flags = {
    seconds: Flags.integer({ min: 1, default: TIMEOUT_SECONDS, description: 'timeout for one answer, in seconds' }),
  }

  async run(): Promise<void> {
    const { args, flags } = await this.parse(ModelsTest)
    const rows: ModelTestRow[] = []
    for (const { setting, model } of this.selectModels(args.name))
      rows.push(...(await testModel(setting, model, flags.seconds * 1000)))
    await this.out.list(rows, {
      columns: [
        { field: 'provider', kind: 'name' },
        { field: 'model', kind: 'name' },
        { field: 'ability' },
        { field: 'result' },
        { field: 'latencyMs', title: 'MS', kind: 'count' },
        { field: 'note' },
      ],
      empty: 'No model provider is configured.',
      hint: '`ks models add` finds servers on this machine, `ks models add NAME` adds hosted ones',
    })
    const isMainTask = ({ ability }: ModelTestRow) =>
      ability === 'chat' || ability === 'answers' || ability === 'embeddings' || ability === 'rerank'
    if (rows.some((row) => isMainTask(row) && row.result === "doesn't")) throw new ExitWith(EXIT.checkFailed)
  }

  /** The providers to test, each with a model if one is given. */
  private selectModels(name: string | undefined): { setting: ProviderSetting; model?: string }[] {
    const settings = readConfiguredProviders(this.dirs.data).filter(({ pluginId }) => pluginId === OPENAI_COMPATIBLE)
    if (name === undefined) return this.selectDefaults(settings)
    const localName = name.startsWith(`${OPENAI_COMPATIBLE}/`) ? name.slice(OPENAI_COMPATIBLE.length + 1) : name
    const setting = settings.find(({ provider }) => localName === provider || localName.startsWith(`${provider}/`))
    if (setting === undefined)
      throw new CliError(`no provider for ${JSON.stringify(name)} is configured`, {
        code: 'not-found',
        exit: EXIT.notFound,
        hint: '`ks config providers --daemon` lists them',
      })
    const model = localName.slice(setting.provider.length + 1)
    return [{ setting, ...(model === '' ? {} : { model }) }]
  }

  private selectDefaults(settings: readonly ProviderSetting[]) {
    const file = readJsonObject(getDaemonConfigPath(this.dirs.data))
    const withModel = (['defaultGenerator', 'defaultEmbedding'] as const).flatMap((key) => {
      if (file[key] === undefined) return []
      const { pluginId, provider, model } = SETTINGS[key].read(file[key])
      const setting = settings.find((candidate) => candidate.pluginId === pluginId && candidate.provider === provider)
      return setting === undefined ? [] : [{ setting, model }]
    })
    const others = settings.filter((setting) => !withModel.some((candidate) => candidate.setting === setting))
    return [...withModel, ...others.map((setting) => ({ setting }))]
  }
}

/** Tests a model. Without a model, tests the first model of each use that the server lists. */
async function testModel(
  setting: ProviderSetting,
  model: string | undefined,
  timeoutMs: number,
): Promise<ModelTestRow[]> {
  const { provider } = setting
  const { server, missingKeyEnv } = toModelServer(setting, process.env)
  if (missingKeyEnv !== undefined)
    return [{ provider, model: model ?? '', result: 'not asked', note: `${missingKeyEnv} is not set in this shell` }]
  const [found] = await detectServers([{ provider, url: server.baseUrl, headers: { ...server.headers } }])
  const listed = found?.models ?? []
  const models =
    model === undefined
      ? selectFirstOfEachUse(listed)
      : [listed.find(({ name }) => name === model) ?? guessModel(model)]
  if (models.length === 0)
    return [
      {
        provider,
        model: '',
        result: "doesn't",
        ability: 'chat',
        note: 'the server lists no model; give one as PROVIDER/MODEL',
      },
    ]
  const rows: ModelTestRow[] = []
  for (const candidate of models)
    for (const result of await probeModel(server, candidate, timeoutMs))
      rows.push({ provider, model: candidate.name, ...result })
  return rows
}

function selectFirstOfEachUse(models: readonly DetectedModel[]): DetectedModel[] {
  return USES.flatMap((use) => models.find((model) => model.use === use) ?? [])
}

/** A model that its server does not list; its use is guessed from its name. */
function guessModel(name: string): Pick<DetectedModel, 'name' | 'use'> {
  return { name, use: guessPurpose(name) }
}
