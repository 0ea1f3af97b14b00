import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { setTimeout as sleep } from 'node:timers/promises'
import { KS } from './daemon.js'

const ENDS_MS = 30_000

/** A session with `ks mcp` over stdio, asked line by line as a client does. */
export interface McpStdio {
  /** @returns the line of JSON that answers */
  ask(method: string, params: object): Promise<string>
  /** Leaves, and waits for the end of the process. @throws Error when it stays */
  end(): Promise<void>
}

/** Starts `ks mcp` and begins a session with it. @param args behind `ks mcp` */
export async function mcpStdio(env: NodeJS.ProcessEnv, args: string[] = []): Promise<McpStdio> {
  const child = spawn(process.execPath, [KS, 'mcp', ...args], { env, stdio: ['pipe', 'pipe', 'inherit'] })
  const lines = createInterface({ input: child.stdout })
  const ended = once(child, 'exit')
  const tell = (message: object) => child.stdin.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`)
  let asked = 0
  const ask = async (method: string, params: object): Promise<string> => {
    tell({ id: ++asked, method, params })
    const [line] = await once(lines, 'line')
    return String(line)
  }
  const clientInfo = { name: 'bench', version: '1' }
  await ask('initialize', { protocolVersion: '2025-11-25', capabilities: {}, clientInfo })
  tell({ method: 'notifications/initialized' })
  return {
    ask,
    end: async () => {
      child.stdin.end()
      const late = sleep(ENDS_MS, 'late', { ref: false })
      if ((await Promise.race([ended, late])) === 'late')
        throw new Error(`ks mcp ${child.pid} did not end with its client`)
    },
  }
}
