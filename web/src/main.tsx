import { StrictMode } from 'react'
import { createRoot } from 'react-dom/client'
import { App } from './app'
import { keepPlaces } from './back'
import { applyTheme } from './ui/theme'
import './styles/tokens.css'
import './styles/base.css'
import './styles/layout.css'
import './styles/parts.css'
import './styles/prose.css'

applyTheme()
keepPlaces()
const root = document.getElementById('root')
if (root) createRoot(root).render(<StrictMode><App /></StrictMode>)
