// The sessions page: registers its views, follows the address, and begins.

import { followRoute, initialize } from './model/commands.js'
import './views/account-menu.js'
import './views/confirm-view.js'
import './views/consent-view.js'
import './views/login-view.js'
import './views/problem-list.js'
import './views/reset-view.js'
import './views/session-list.js'
import './views/session-view.js'
import './views/settings-view.js'

addEventListener('hashchange', followRoute)
initialize()
