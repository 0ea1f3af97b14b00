import { BaseCommand } from '../../cli/base-command.js'
import { CliError } from '../../cli/cli-error.js'
import { formatUsageToday } from '../../cli/daemon-status.js'
import { EXIT } from '../../contract/errors.js'
import type { ModelUsage } from '../../contract/gateway/system.js'

/** Key of the context window of all models of a provider. */
const ANY_MODEL = '*'
/** Context window that the daemon assumes if none is configured. */
const DEFAULT_CONTEXT_TOKENS = 8192

export default class Models extends BaseCommand {
  static override summary = 'list the models of providers with their tasks, usage, context windows and budgets'
  static override aliases = ['models:list', 'models:ls']
  static override examples = ['<%= config.bin %> models', '<%= config.bin %> models --json']

  async run(): Promise<void> {
    await this.parse(Models)
    const { models } = await (await this.client()).request('GET /daemon/status', { query: {} })
    if (models === undefined)
      throw new CliError('only the operator of a daemon can read the usage of its models', {
        code: 'not-allowed',
        exit: EXIT.notAllowed,
      })
    if (this.out.format === 'json') {
      this.out.json(models)
      return
    }
    await this.out.list(toModelRows(models), {
      columns: [
        { field: 'provider', kind: 'name' },
        { field: 'model', kind: 'name' },
        { field: 'kind' },
        { field: 'task' },
        { field: 'state', kind: 'state' },
        { field: 'calls', kind: 'count' },
        { field: 'failed', kind: 'count' },
        { field: 'inputTokens', title: 'READ', kind: 'count' },
        { field: 'outputTokens', title: 'WROTE', kind: 'count' },
        { field: 'contextTokens', title: 'WINDOW', kind: 'count' },
      ],
      empty: 'No model provider is configured.',
      hint: '`ks models add` finds servers on this machine, `ks models add NAME` adds hosted ones',
    })
    if (models.providers.length > 0) this.out.note(formatUsageToday(models))
    for (const { slug, counter, used, limit } of models.budgets)
      if (limit !== undefined) this.out.note(`${slug}: ${used} of ${limit} ${counter} today`)
  }
}

/** A row for each model that was used since the start or has a task, and a row for each other provider. */
function toModelRows({ providers, defaults }: ModelUsage) {
  const rows = providers.flatMap(({ pluginId, provider, baseUrl, credential, contextTokens, circuits }) => {
    const providerFields = { pluginId, provider, baseUrl, credential }
    const tasks = groupTasks(defaults.filter((model) => model.pluginId === pluginId && model.provider === provider))
    const usedRows = circuits.map(({ state, ...use }) => ({
      ...providerFields,
      ...use,
      task: tasks.get(use.model) ?? '',
      state: state === 'closed' ? 'ok' : 'failing',
      ...(use.kind === 'generation'
        ? { contextTokens: contextTokens[use.model] ?? contextTokens[ANY_MODEL] ?? DEFAULT_CONTEXT_TOKENS }
        : {}),
    }))
    const unused = [...tasks].filter(([model]) => !circuits.some((circuit) => circuit.model === model))
    const state = describeCredential(credential)
    const unusedRows = unused.map(([model, task]) => ({ ...providerFields, model, kind: '', task, state }))
    return usedRows.length + unusedRows.length > 0
      ? [...usedRows, ...unusedRows]
      : [{ ...providerFields, model: '', kind: '', task: '', state }]
  })
  const unconfigured = defaults.filter(
    (model) => !providers.some(({ pluginId, provider }) => model.pluginId === pluginId && model.provider === provider),
  )
  const unconfiguredRows = unconfigured.map(({ pluginId, provider, model, task }) => {
    const state = pluginId === 'builtin' ? 'ok' : 'not configured'
    return { pluginId, provider, model, kind: '', task, state }
  })
  return [...rows, ...unconfiguredRows]
}

/** The tasks of each model by its name. */
function groupTasks(defaults: ModelUsage['defaults']): Map<string, string> {
  const tasks = new Map<string, string>()
  for (const { model, task } of defaults) tasks.set(model, [tasks.get(model) ?? [], task].flat().join(', '))
  return tasks
}

function describeCredential(credential: 'set' | 'missing' | 'none'): string {
  return credential === 'missing' ? 'no key' : 'unused'
}
