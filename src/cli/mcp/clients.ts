import { join } from 'node:path'

/** Programs that start MCP servers, and their configuration files as each program documents them. */

export interface Machine {
  home: string
  platform: NodeJS.Platform
  env: Readonly<Record<string, string | undefined>>
}

export interface ClientPlace {
  /** Display name. */
  title: string
  format: 'json' | 'toml'
  /** Key of the servers in the file. */
  key: string
  /** The user's configuration file. */
  file(machine: Machine): string
  /** The project's configuration file, relative to its folder; absent if not supported. */
  project?: string
  /** Fields of an entry beside command, args and env. */
  extra?: Readonly<Record<string, string>>
}

const SERVERS = 'mcpServers'

/** The platform's folder for application settings. */
function appData({ home, platform, env }: Machine, ...names: string[]): string {
  if (platform === 'darwin') return join(home, 'Library', 'Application Support', ...names)
  if (platform === 'win32') return join(env.APPDATA ?? join(home, 'AppData', 'Roaming'), ...names)
  return join(env.XDG_CONFIG_HOME ?? join(home, '.config'), ...names)
}

export const CLIENTS = {
  claude: {
    title: 'Claude Code',
    format: 'json',
    key: SERVERS,
    file: ({ home }) => join(home, '.claude.json'),
    project: '.mcp.json',
    extra: { type: 'stdio' },
  },
  'claude-desktop': {
    title: 'Claude Desktop',
    format: 'json',
    key: SERVERS,
    file: (machine) => appData(machine, 'Claude', 'claude_desktop_config.json'),
  },
  cursor: {
    title: 'Cursor',
    format: 'json',
    key: SERVERS,
    file: ({ home }) => join(home, '.cursor', 'mcp.json'),
    project: join('.cursor', 'mcp.json'),
  },
  vscode: {
    title: 'Visual Studio Code',
    format: 'json',
    key: 'servers',
    file: (machine) => appData(machine, 'Code', 'User', 'mcp.json'),
    project: join('.vscode', 'mcp.json'),
    extra: { type: 'stdio' },
  },
  codex: {
    title: 'Codex',
    format: 'toml',
    key: 'mcp_servers',
    file: ({ home, env }) => join(env.CODEX_HOME ?? join(home, '.codex'), 'config.toml'),
    project: join('.codex', 'config.toml'),
  },
  zed: {
    title: 'Zed',
    format: 'json',
    key: 'context_servers',
    file: ({ home, platform, env }) =>
      platform === 'win32'
        ? appData({ home, platform, env }, 'Zed', 'settings.json')
        : join(env.XDG_CONFIG_HOME ?? join(home, '.config'), 'zed', 'settings.json'),
    project: join('.zed', 'settings.json'),
    extra: { source: 'custom' },
  },
  gemini: {
    title: 'Gemini CLI',
    format: 'json',
    key: SERVERS,
    file: ({ home }) => join(home, '.gemini', 'settings.json'),
    project: join('.gemini', 'settings.json'),
  },
  windsurf: {
    title: 'Windsurf',
    format: 'json',
    key: SERVERS,
    file: ({ home }) => join(home, '.codeium', 'windsurf', 'mcp_config.json'),
  },
} as const satisfies Record<string, ClientPlace>

export type ClientName = keyof typeof CLIENTS

/** How a client starts the server. */
export interface ServerEntry {
  command: string
  args: string[]
  env?: Record<string, string>
}
