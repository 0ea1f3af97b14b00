import './style/base.css'
import './style/parts.css'
import './style/surfaces.css'
import './style/shell.css'
import { QueryClient, QueryClientProvider } from '@tanstack/react-query'
import { StrictMode, useSyncExternalStore } from 'react'
import { createRoot } from 'react-dom/client'
import { ApiError } from './api/client.js'
import { link } from './api/link.js'
import { session, takeCode } from './api/session.js'
import { Shell } from './shell/shell.js'
import { SignIn } from './shell/sign-in.js'
import { applyTheme } from './shell/theme.js'

const RETRIES = 2
/** what was read is shown at once, and read anew behind that when it is older */
const FRESH_MS = 5_000

const queries = new QueryClient({
  defaultOptions: {
    queries: {
      staleTime: FRESH_MS,
      // the browser's word on its network says nothing of a daemon on this machine
      networkMode: 'always',
      // only a daemon that is busy answers otherwise when it is asked again
      retry: (failures, error) =>
        failures < RETRIES && error instanceof ApiError && (error.status === 429 || error.status === 503),
    },
    mutations: { networkMode: 'always' },
  },
})

// what another caller had read is none of this one's
session.subscribe(() => {
  if (!session.isOpen()) queries.clear()
})
link.subscribe(() => {
  if (!link.isAway()) void queries.invalidateQueries()
})

function App({ problem }: { problem: string | undefined }) {
  const isOpen = useSyncExternalStore(session.subscribe, session.isOpen)
  return isOpen ? <Shell /> : <SignIn problem={problem} />
}

applyTheme()
const problem = await takeCode()
const root = document.getElementById('root')
if (root !== null)
  createRoot(root).render(
    <StrictMode>
      <QueryClientProvider client={queries}>
        <App problem={session.isOpen() ? undefined : problem} />
      </QueryClientProvider>
    </StrictMode>,
  )
