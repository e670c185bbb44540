import { StrictMode } from 'react'
import { createRoot } from 'react-dom/client'
import { remember, signIn } from './api/session'
import { App } from './app'
import { keepPlaces } from './back'
import { applyTheme } from './ui/theme'
import './styles/faces.css'
import './styles/tokens.css'
import './styles/base.css'
import './styles/layout.css'
import './styles/parts.css'
import './styles/prose.css'

applyTheme()
await signIn()
void remember()
keepPlaces()
const root = document.getElementById('root')
if (root) createRoot(root).render(<StrictMode><App /></StrictMode>)
