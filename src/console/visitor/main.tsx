import '../style/base.css'
import '../style/parts.css'
import './visitor.css'
import { useEffect } from 'react'
import { createRoot } from 'react-dom/client'
import type { ChatInfo, ChatParameters, Site } from '../../contract/chat/application.js'
import type { RetrieverResource } from '../../contract/chat/messages.js'
import { type BrowserVisit, type ChatClient, ChatFailure, createChatClient, type MessagePage } from '../chat/client.js'
import { ConversationView } from '../chat/conversation-view.js'
import { type TurnProgress, toTurn } from '../chat/turn.js'
import { useAppConversation } from '../chat/use-conversation.js'

// The page of one application for visitors, without the key of the application.
const appId = location.pathname.split('/').at(-1) ?? ''
const STORAGE_PREFIX = `ks.chat.${appId}`
/** Turns of a stored conversation that are shown. */
const MAX_STORED_TURNS = 20

const STYLE = {
  ratingLabels: { like: 'Helpful', dislike: 'Not helpful' },
  showsDetails: false,
  placeholder: 'Your question',
  maxQuestionLength: 4000,
  renderSourceName: ({ document_name, source_url }: RetrieverResource) =>
    source_url !== undefined && /^https?:\/\//.test(source_url) ? (
      <a href={source_url} target="_blank" rel="noreferrer noopener">
        {document_name}
      </a>
    ) : (
      <strong>{document_name}</strong>
    ),
}

interface VisitorPageProps {
  client: ChatClient
  title: string
  site: Partial<Site>
  overview: string
  parameters: ChatParameters
  storedTurns: readonly TurnProgress[]
}

function VisitorPage({ client, title, site, overview, parameters, storedTurns }: VisitorPageProps) {
  const conversation = useAppConversation({
    client,
    withSuggestions: parameters.suggested_questions_after_answer.enabled,
    storedTurns,
    onError: () => undefined,
  })
  const { conversationId, restart } = conversation
  useEffect(() => store('conversation', conversationId), [conversationId])
  const footer = [site.custom_disclaimer, site.copyright].filter((text) => text !== undefined && text !== '')
  return (
    <>
      <header>
        <h1 className="wrap">{title}</h1>
        <button type="button" className="button button-quiet button-small" onClick={restart}>
          New conversation
        </button>
      </header>
      <main>
        <ConversationView
          conversation={conversation}
          overview={overview}
          opening={parameters.opening_statement}
          suggestedQuestions={parameters.suggested_questions}
          controls={parameters.user_input_form}
          style={STYLE}
        />
      </main>
      {footer.length > 0 && <footer className="faint">{footer.join(' · ')}</footer>}
    </>
  )
}

async function loadPage(): Promise<VisitorPageProps> {
  const client = createChatClient((previousToken) => startVisit(previousToken ?? readStored('token')))
  const user = await client.user()
  const [site, info, parameters, storedTurns] = await Promise.all([
    client.read<Partial<Site>>('/site'),
    client.read<ChatInfo>('/info'),
    client.read<ChatParameters>('/parameters', { user }),
    loadStoredTurns(client, user),
  ])
  return { client, title: site.title || info.name, site, overview: info.overview, parameters, storedTurns }
}

async function startVisit(previousToken: string | undefined): Promise<BrowserVisit> {
  const response = await fetch(`/chat/${encodeURIComponent(appId)}/visits`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(previousToken === undefined ? {} : { before: previousToken }),
  })
  if (!response.ok) throw new ChatFailure(response.status, '', 'This chat is not open now. Please try again later.')
  const visit: BrowserVisit = await response.json()
  store('token', visit.token)
  return visit
}

/** Turns of the conversation that this tab had; none if it no longer exists. */
async function loadStoredTurns(client: ChatClient, user: string): Promise<TurnProgress[]> {
  const conversationId = readStored('conversation')
  if (conversationId === undefined) return []
  const query = { conversation_id: conversationId, user, limit: String(MAX_STORED_TURNS) }
  const page = await client.read<MessagePage>('/messages', query).catch(() => undefined)
  return page?.data.map(toTurn) ?? []
}

/** @returns undefined also if the browser denies storage, as to a frame: then a conversation lasts as long as its page */
function readStored(name: string): string | undefined {
  try {
    return sessionStorage.getItem(`${STORAGE_PREFIX}.${name}`) ?? undefined
  } catch {
    return undefined
  }
}

function store(name: string, value: string | undefined): void {
  try {
    if (value === undefined) sessionStorage.removeItem(`${STORAGE_PREFIX}.${name}`)
    else sessionStorage.setItem(`${STORAGE_PREFIX}.${name}`, value)
  } catch {
    // storage is denied, as above
  }
}

const root = document.getElementById('chat')
if (root !== null) {
  const reactRoot = createRoot(root)
  loadPage().then(
    (props) => {
      document.title = props.title
      reactRoot.render(<VisitorPage {...props} />)
    },
    (error: unknown) =>
      reactRoot.render(
        <p className="notice notice-bad" role="alert">
          {error instanceof ChatFailure ? error.message : 'The chat does not answer. Please try again later.'}
        </p>,
      ),
  )
}
