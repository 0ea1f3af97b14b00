import './style/base.css'
import './style/parts.css'
import './style/surfaces.css'
import './style/shell.css'
import { QueryClient, QueryClientProvider } from '@tanstack/react-query'
import { StrictMode, useSyncExternalStore } from 'react'
import { createRoot } from 'react-dom/client'
import { RequestError } from './api/client.js'
import { connection } from './api/connection.js'
import { exchangeCode, session } from './api/session.js'
import { Shell } from './shell/shell.js'
import { SignIn } from './shell/sign-in.js'
import { applyTheme } from './shell/theme.js'

const MAX_RETRIES = 2
/** Data is shown from the cache at once, and reloaded in the background when it is older than this. */
const STALE_AFTER_MS = 5_000

const queryClient = new QueryClient({
  defaultOptions: {
    queries: {
      staleTime: STALE_AFTER_MS,
      // the browser's network state does not apply to a daemon on this machine
      networkMode: 'always',
      // only a busy daemon may respond differently to a retry
      retry: (failures, error) =>
        failures < MAX_RETRIES && error instanceof RequestError && (error.status === 429 || error.status === 503),
    },
    mutations: { networkMode: 'always' },
  },
})

// a session must not see the data of the previous one
session.subscribe(() => {
  if (!session.isOpen()) queryClient.clear()
})
// data may have changed while the daemon was unreachable
connection.subscribe(() => {
  if (!connection.isUnreachable()) void queryClient.invalidateQueries()
})

function App({ problem }: { problem: string | undefined }) {
  const isOpen = useSyncExternalStore(session.subscribe, session.isOpen)
  return isOpen ? <Shell /> : <SignIn problem={problem} />
}

applyTheme()
const problem = await exchangeCode()
const root = document.getElementById('root')
if (root !== null)
  createRoot(root).render(
    <StrictMode>
      <QueryClientProvider client={queryClient}>
        <App problem={session.isOpen() ? undefined : problem} />
      </QueryClientProvider>
    </StrictMode>,
  )
