// The page of calls: registers its views, follows the address, and starts.

import { followRoute, initialize } from './model/commands.js'
import './views/account-menu.js'
import './views/call-announcer.js'
import './views/call-bar.js'
import './views/call-screen.js'
import './views/consent-view.js'
import './views/incoming-calls.js'
import './views/login-view.js'
import './views/people-view.js'
import './views/problem-list.js'

addEventListener('hashchange', followRoute)
initialize()
