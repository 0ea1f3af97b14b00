import { join } from 'node:path'

/** Programs that start MCP servers, and their configuration files as each program documents them. */

export interface ClientMachine {
  home: string
  platform: NodeJS.Platform
  env: Readonly<Record<string, string | undefined>>
}

export interface McpClientConfig {
  title: string
  format: 'json' | 'toml'
  /** Key of the servers in the file. */
  key: string
  /** The user's configuration file. */
  file(machine: ClientMachine): string
  /** The project's configuration file, relative to its folder; absent if not supported. */
  project?: string
  /** Fields of an entry besides command, args and env. */
  extra?: Readonly<Record<string, string>>
}

const SERVERS_KEY = 'mcpServers'

/** The platform's folder for application settings. */
function getAppDataPath({ home, platform, env }: ClientMachine, ...names: string[]): string {
  if (platform === 'darwin') return join(home, 'Library', 'Application Support', ...names)
  if (platform === 'win32') return join(env.APPDATA ?? join(home, 'AppData', 'Roaming'), ...names)
  return join(env.XDG_CONFIG_HOME ?? join(home, '.config'), ...names)
}

export const MCP_CLIENTS = {
  claude: {
    title: 'Claude Code',
    format: 'json',
    key: SERVERS_KEY,
    file: ({ home }) => join(home, '.claude.json'),
    project: '.mcp.json',
    extra: { type: 'stdio' },
  },
  'claude-desktop': {
    title: 'Claude Desktop',
    format: 'json',
    key: SERVERS_KEY,
    file: (machine) => getAppDataPath(machine, 'Claude', 'claude_desktop_config.json'),
  },
  cursor: {
    title: 'Cursor',
    format: 'json',
    key: SERVERS_KEY,
    file: ({ home }) => join(home, '.cursor', 'mcp.json'),
    project: join('.cursor', 'mcp.json'),
  },
  vscode: {
    title: 'Visual Studio Code',
    format: 'json',
    key: 'servers',
    file: (machine) => getAppDataPath(machine, 'Code', 'User', 'mcp.json'),
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
        ? getAppDataPath({ home, platform, env }, 'Zed', 'settings.json')
        : join(env.XDG_CONFIG_HOME ?? join(home, '.config'), 'zed', 'settings.json'),
    project: join('.zed', 'settings.json'),
    extra: { source: 'custom' },
  },
  gemini: {
    title: 'Gemini CLI',
    format: 'json',
    key: SERVERS_KEY,
    file: ({ home }) => join(home, '.gemini', 'settings.json'),
    project: join('.gemini', 'settings.json'),
  },
  windsurf: {
    title: 'Windsurf',
    format: 'json',
    key: SERVERS_KEY,
    file: ({ home }) => join(home, '.codeium', 'windsurf', 'mcp_config.json'),
  },
} as const satisfies Record<string, McpClientConfig>

export type McpClientName = keyof typeof MCP_CLIENTS

/** How a client starts the server. */
export interface McpServerEntry {
  command: string
  args: string[]
  env?: Record<string, string>
}
