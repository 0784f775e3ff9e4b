package import Engine
package import HTTPServer
internal import HTTPTypes
internal import Identity
package import OutgoingHTTP
package import Store
package import Wire

/// Assembles the services behind the HTTP API: accounts, sessions, calls and their records.
///
/// Created before the gateway, which needs `auditEvents`, `recordings` and `callInbox`. The services are created once the gateway supplies
/// its `RoomService`.
package struct BackendServices: Sendable {
    package let store: Store
    package let accounts: AccountService
    package let sessionRooms: SessionRooms
    /// Nil disables recording.
    package let recordings: SessionRecordings?
    package let auditEvents: AuditEventQueue
    package let callInbox: CallInbox
    package let assistants: AssistantDirectory
    package let recordingLog = RecordingLog()
    /// Notices from other nodes of a cluster.
    package let notices = NodeNotices()
    private let dispatch: DispatchInbox?
    private let pushes = PushQueue()
    private let publicURL: String?
    private let webhooks: WebhookWriter
    private let homes: RoomHomes?
    private let operatorLog: OperatorLog

    /// - Parameters:
    ///   - externalIssuer: another issuer of user tokens.
    ///   - publicURL: the `wss://` URL at which clients reach the gateway; nil derives it from the Host header (development only).
    ///   - recordingsDirectory: stores recordings of logged sessions; nil disables recording.
    ///   - dispatch: receives the assistants that sessions and calls ask for; nil: they are not dispatched.
    ///   - endpoints: URLs that receive the webhooks of all rooms, sessions and calls.
    ///   - assistants: contains the configuration's; `restore()` adds the store's.
    ///   - accountSettings: the configuration section `accounts`.
    ///   - homes: the cluster as this node sees it; the store is then opened with `Store.Access.node`. Nil without a cluster.
    ///   - operatorLog: the operator's log of sessions and calls.
    package init(
        store: Store, externalIssuer: ExternalIssuer? = nil, publicURL: String? = nil, recordingsDirectory: String? = nil,
        dispatch: DispatchInbox? = nil, webhookEndpoints endpoints: [String] = [], assistants: AssistantDirectory = AssistantDirectory(),
        accountSettings: AccountSettings = AccountSettings(), homes: RoomHomes? = nil, operatorLog: OperatorLog = .silent
    ) throws {
        self.store = store
        self.assistants = assistants
        let rooms = SessionRooms(recordsLogged: recordingsDirectory != nil)
        sessionRooms = rooms
        recordings = try recordingsDirectory.map {
            try SessionRecordings(store: store.sessions, rooms: rooms, directory: $0, homes: homes)
        }
        let tokens = try UserTokens(key: store.userTokenKey, externalIssuer: externalIssuer)
        webhooks = WebhookWriter(to: endpoints, node: homes?.node)
        self.homes = homes
        accounts = AccountService(store: store.accounts, tokens: tokens, webhooks: webhooks, settings: accountSettings)
        let inbox = CallInbox(
            tokens: tokens, relay: homes?.relay, isReplacing: { dispatch?.registry.isReplacing($0, in: $1) ?? false })
        callInbox = inbox
        self.dispatch = dispatch
        self.publicURL = publicURL
        self.operatorLog = operatorLog
        let reportsAllRooms = !endpoints.isEmpty
        auditEvents = AuditEventQueue(
            reporting: { room in
                room.hasPrefix(Session.roomPrefix) || CallRooms.isCallRoom(room) || reportsAllRooms ? rooms.reporting(of: room) : .nothing
            },
            joinError: { room, identity in
                // Only the coordinator knows the members of calls, and is asked by other nodes.
                rooms.joinError(for: room) ?? (homes?.coordinates() == false ? nil : inbox.rooms.joinError(for: identity, in: room))
            },
            briefing: rooms.briefing,
            epoch: homes?.epoch,
            observer: { [recordingLog] event in
                recordingLog.note(event)
                inbox.post(event)
            })
    }

    /// For LiveKit's Egress service; nil: recording is disabled.
    package var roomRecordings: RoomRecordings? {
        guard recordings != nil else { return nil }
        return RoomRecordings(mayRecord: { [sessionRooms] in sessionRooms.reporting(of: $0).records }, log: recordingLog)
    }

    /// Recovers the previous process's state: sessions continue, and rooms and calls left open by a crash are announced as ended. Call
    /// before the gateway admits anyone. In a cluster, sessions, rooms and calls are left alone (`recovery`).
    package func restore() async throws {
        try await assistants.load(from: store.assistants)
        guard homes == nil else { return }
        for session in try await store.sessions.openSessions(startedBefore: .now, limit: 100_000) { sessionRooms.restore(session) }
        for user in sessionRooms.users {
            for room in sessionRooms.rooms(of: user) { await sessionRooms.brief(room, from: store.sessions) }
        }
        for open in try await store.webhooks.openAnnouncements() {
            try await store.webhooks.announce(webhooks.end(of: open, at: .now), at: .now)
        }
    }

    /// Recovers what other nodes have left open; nil without a cluster.
    package var recovery: RoomRecovery? {
        guard let homes else { return nil }
        return RoomRecovery(
            store: store, calls: callInbox, writer: webhooks, events: auditEvents, sessionRooms: sessionRooms, node: homes.node)
    }

    package func sessionService(_ rooms: RoomService, keys: KeysInUse) -> SessionService {
        let service = SessionService(
            store: store.sessions, sessionRooms: sessionRooms, rooms: rooms, tokens: RoomTokenMinter(keys: keys, publicURL: publicURL),
            recordings: recordings, webhooks: webhooks, auditEvents: auditEvents, dispatch: dispatch, assistants: assistants,
            operatorLog: operatorLog,
            tell: { [callInbox] user, event in callInbox.post(.notice(event.bytes, to: Identity(text: user.text))) },
            push: { [pushes] in pushes.post($0) })
        if homes != nil {
            accounts.guesses.onFailure { name, count in Task { await rooms.notifyOtherNodes(.failures(of: name, count: count)) } }
        }
        notices.handle { [assistants, store, accounts] notice in
            switch notice {
            // A failure of the store is logged where it occurs.
            case .assistants: try? await assistants.load(from: store.assistants)
            case .sessions(let user): await service.reloadSessions(of: user)
            case .failures(let name, let count): accounts.guesses.note(count, of: name)
            }
        }
        return service
    }

    /// - Parameter counters: counts what the store refuses in a cluster.
    package func auditEventWriter(
        _ sessions: SessionService, summarizer: any Summarizer, counters: ServiceCounters = ServiceCounters()
    ) -> AuditEventWriter {
        AuditEventWriter(
            events: auditEvents, sessions: sessions, calls: callInbox.rooms, webhooks: webhooks, webhookStore: store.webhooks,
            maintenance: SessionMaintenance(
                sessions, summarizer, isAbandoned: homes?.isAbandoned, expireStore: { [store] in try await store.expire(at: $0) }),
            counters: counters, superseded: homes?.superseded)
    }

    /// The call service of a gateway that was given `callInbox`.
    package func callService(
        _ rooms: RoomService, keys: KeysInUse, server: ServerInfo, settings: CallSettings = CallSettings(),
        collaborators: CallCollaborators? = nil
    ) -> CallService {
        CallService(
            inbox: callInbox, auditEvents: auditEvents, accounts: accounts, conversations: store.conversations,
            webhookStore: store.webhooks, rooms: rooms, tokens: RoomTokenMinter(keys: keys, publicURL: publicURL),
            settings: settings,
            collaborators: collaborators ?? defaultCollaborators(server))
    }

    /// Calls to assistants with workers become jobs.
    private func defaultCollaborators(_ server: ServerInfo) -> CallCollaborators {
        var collaborators = CallCollaborators(
            server: server,
            announcement: { [webhooks, callInbox] in
                webhooks.announcement(of: $0, trace: callInbox.rooms.trace(of: $0.call.room), at: .now)
            },
            dispatch: { [dispatch, callInbox] assistant, call in
                guard let dispatch, dispatch.registry.hasWorkers(of: assistant) else { return false }
                let job = JobRequest(
                    room: call.room, assistant: assistant, metadata: call.metadata, reason: .call, call: call.id,
                    trace: callInbox.rooms.trace(of: call.room)?.withNewSpan)
                return dispatch.post(.create(job))
            },
            recall: { [dispatch] assistant, call in dispatch?.post(.recall(assistant: assistant, call)) })
        collaborators.operatorLog = operatorLog
        if homes != nil { collaborators.writesAs = RoomHomes.coordinatorRoom }
        collaborators.push = { [pushes] in pushes.post($0) }
        collaborators.conversations = ConversationNewsSender(webhooks: webhooks, inbox: callInbox).outlet()
        return collaborators
    }

    /// The service that wakes phones for calls and for summaries.
    ///
    /// - Parameters:
    ///   - apns: nil: all pushes are webhooks.
    ///   - send: speaks HTTP/2; for `apns`.
    package func pushService(
        calls: CallService, apns: APNsSettings? = nil, sending send: @escaping Outgoing, counters: ServiceCounters = ServiceCounters()
    ) -> PushService {
        let sender = apns.map {
            APNsSender($0, clock: ContinuousClock(), now: { .now }, random: { Double.random(in: 0..<1) }, sending: send)
        }
        return PushService(
            pushes, store.accounts, store.sessions, store.calls, store.webhooks, webhooks: webhooks, apns: sender, counters: counters
        ) { request in
            switch request.reason {
            case .call(let call): await calls.isRinging(call.id, request.user)
            // Connected devices receive `session.summary_ready` instead.
            case .summary: await !calls.isConnected(request.user)
            }
        }
    }

    /// The service of speech clips, which reports progress on the channels of their owners.
    ///
    /// - Parameter player: plays clips into rooms; nil: they cannot be played.
    package func speechService(
        _ generator: any SpeechGenerator, _ rooms: RoomService, keys: KeysInUse, player: (any ClipPlayer)? = nil,
        counters: ServiceCounters, limits: SpeechLimits = SpeechLimits()
    ) -> SpeechService {
        let playback = player.map {
            ClipPlayback($0, rooms: rooms, sessionRooms: sessionRooms, tokens: RoomTokenMinter(keys: keys, publicURL: publicURL))
        }
        return SpeechService(
            store: store.clips, generator: generator, limits: limits, counters: counters, playback: playback
        ) { [callInbox] owner, message in
            callInbox.post(.notice(message, to: owner))
        }
    }

    package func routes(_ sessions: SessionService, _ calls: CallService) -> [Route] {
        let accounts = AccountRoutes.routes(
            accounts, changed: sessions.updateBriefings,
            deleted: { [callInbox] user in
                callInbox.post(.deleted(Identity(text: user.text)))
                await sessions.closeRooms(of: user)
            })
        let user = self.accounts.userAccess
        let caller = user.checking { try await calls.checkIsHere() }
        let exported = AccountExport.Sources(
            accounts: store.accounts, sessions: store.sessions, conversations: store.conversations, calls: store.calls)
        let turnAuthor = Access.requester("`roomAdmin`", self.accounts, sessions.tokens.keys) { request in
            .administer(room: Session.roomPrefix + request.parameter("id").lowercased())
        }
        return accounts
            + PasswordRoutes.routes(self.accounts, revoked: { [callInbox] in callInbox.post(.revoked(Identity(text: $0.text))) })
            + ExportRoutes.routes(self.accounts, from: exported)
            + SessionRoutes.routes(sessions, store.accounts, user: user, turnAuthor: turnAuthor)
            + CallRoutes.routes(calls, store.calls, user: caller) + ContactRoutes.routes(store.accounts, user: user)
            + PushRoutes.routes(store.calls, user: user)
            + ConversationRoutes.routes(
                self.accounts, store.conversations, ConversationNewsSender(webhooks: webhooks, inbox: callInbox))
            + AssistantRoutes.choiceRoutes(assistants, dispatch?.registry, user: caller)
    }
}
