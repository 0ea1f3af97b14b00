import * as Flags from '@oclif/core/flags'
import { BaseCommand } from '../../cli/base-command.js'
import { checkProviderName, parseServerAddress, saveProviders } from '../../cli/models/configured.js'
import { type DetectedServer, detectServers } from '../../cli/models/detect.js'
import { LOCAL_SERVERS } from '../../cli/models/presets.js'
import { confirm } from '../../cli/prompt.js'

export default class ModelsDetect extends BaseCommand {
  static override summary =
    'find model servers on this machine, show their abilities, and configure them after confirmation'
  static override isLocalOnly = true
  static override description =
    'Queries the default ports of Ollama, LM Studio, llama.cpp and vLLM on loopback, or only the given URLs.'
  static override examples = ['<%= config.bin %> models detect', '<%= config.bin %> models detect --json']
  static override flags = {
    server: Flags.string({ multiple: true, description: 'URL of a server to query, instead of the default ports' }),
    provider: Flags.string({ description: 'name of the provider, if one server is queried' }),
  }

  async run(): Promise<void> {
    const { flags } = await this.parse(ModelsDetect)
    const detected = await detectServers(toCandidates(flags))
    const renamed =
      flags.provider === undefined
        ? detected
        : detected.map((server) => ({ ...server, provider: checkProviderName(flags.provider ?? '') }))
    const servers = makeNamesUnique(renamed)
    const rows = servers.flatMap(({ provider, baseUrl, models }) =>
      models.map((model) => ({ provider, baseUrl, ...model, can: model.can.join(', ') })),
    )
    await this.out.list(rows, {
      columns: [
        { field: 'provider', kind: 'name' },
        { field: 'name', title: 'MODEL', kind: 'name' },
        { field: 'use' },
        { field: 'can', kind: 'name' },
        { field: 'contextTokens', title: 'WINDOW', kind: 'count' },
        { field: 'mostContextTokens', title: 'MAX WINDOW', kind: 'count' },
      ],
      fields: ['baseUrl'],
      empty: 'No model server answers.',
      hint: '`ks models detect --server ADDRESS` queries another server',
    })
    if (servers.length === 0) return
    if (rows.some(({ mostContextTokens }) => mostContextTokens !== undefined))
      this.out.note(
        'hint: WINDOW is the context length with which the server loads the model; OLLAMA_CONTEXT_LENGTH, or the setting of your server, increases it',
      )
    const names = servers.map(({ provider }) => provider).join(', ')
    if (!this.prompt.yes && !this.prompt.interactive) {
      this.out.note(`hint: \`--yes\` configures ${names}`)
      return
    }
    if (!(await confirm(`configure ${names}`, this.prompt))) return
    const generators = servers.flatMap(({ provider, models }) =>
      models.filter(({ use }) => use === 'chat').map(({ name }) => `${provider}/${name}`),
    )
    const generator = saveProviders(this.dirs.data, servers.map(toProvider), generators)
    this.out.note(`configured ${names}`)
    if (generator !== undefined) this.out.note(`${generator} now answers questions`)
    const { applySettings } = await import('../../cli/daemon-restart.js')
    if (!(await applySettings(this.dirs))) this.out.note('hint: `ks daemon restart` applies it')
  }
}

function toCandidates({ server, provider }: { server?: string[] | undefined; provider?: string | undefined }) {
  if (server === undefined) return LOCAL_SERVERS
  return server.map((text) => {
    const url = parseServerAddress(text)
    return { url, provider: provider ?? new URL(url).hostname.replace(/[^a-z0-9.-]+/gi, '') }
  })
}

/** Gives servers of one kind distinct provider names. */
function makeNamesUnique(servers: readonly DetectedServer[]): DetectedServer[] {
  const taken = new Set<string>()
  return servers.map((server) => {
    let provider = server.provider
    for (let suffix = 2; taken.has(provider); suffix++) provider = `${server.provider}-${suffix}`
    taken.add(provider)
    return { ...server, provider }
  })
}

function toProvider({ provider, baseUrl, models }: DetectedServer) {
  const windows = models.flatMap(({ name, contextTokens }): [string, number][] =>
    contextTokens === undefined || contextTokens < 1024 ? [] : [[name, contextTokens]],
  )
  return { provider, baseUrl, ...(windows.length === 0 ? {} : { contextTokens: Object.fromEntries(windows) }) }
}
