internal import Backend
internal import DequeModule
internal import Synchronization
internal import Wire

/// Commands to rooms: they find the rooms' homes. A room that has lost its home, or whose home has handed it over, goes on for them.
extension OutgoingMessages {
    /// - Parameter accept: as for `run(accepting:)`.
    func seekRooms(accepting accept: @escaping @Sendable (NodeMessage) -> Bool) async {
        var isBrokerAway = false
        let counts = state.withLock { $0.toRooms.mapValues(\.count) }
        await withTaskGroup { group in
            for (room, count) in counts {
                switch await home(of: room, askingBroker: !isBrokerAway) {
                case .here where cluster.isOpenHere(room): deliver(to: room, accept)
                case .elsewhere(let node): state.withLock { passAll(to: room, at: node, &$0) }
                // A room may have to wait for the store; others do not wait for it.
                case .here, .draining: group.addTask { await self.restore(room, count, accept) }
                // Its commands remain queued for the next search.
                case .unavailable: isBrokerAway = true
                }
            }
        }
    }

    /// Has a room that no node has go on, for its commands.
    private func restore(_ room: String, _ count: Int, _ accept: (NodeMessage) -> Bool) async {
        switch await cluster.restore(room) {
        case .here where cluster.isOpenHere(room): deliver(to: room, accept)
        case .elsewhere(let node): state.withLock { passAll(to: room, at: node, &$0) }
        // The room is over, or no node takes it, so its commands are dropped. Later ones may follow once it opens.
        case .here, .draining: state.withLock { drop(count, to: room, &$0) }
        case .unavailable: break
        }
    }

    private func home(of room: String, askingBroker: Bool) async -> RoomClaim {
        if cluster.isOpenHere(room) { return .here }
        if let known = state.withLock({ knownHome(of: room, $0) }) { return .elsewhere(node: known) }
        return askingBroker ? await cluster.find(room) : .unavailable
    }

    func passAll(to room: String, at home: String, _ state: inout State) {
        // Before commands to another home.
        takeBack(&state)
        _ = state.homes.advance(to: .now)
        state.homes[room] = home
        let messages = state.toRooms.removeValue(forKey: room) ?? []
        state.toRoomsCount -= messages.count
        for message in messages { append(message, toNode: home, &state) }
    }

    private func drop(_ count: Int, to room: String, _ state: inout State) {
        guard var messages = state.toRooms.removeValue(forKey: room) else { return }
        let dropped = min(count, messages.count)
        messages.removeFirst(dropped)
        state.toRoomsCount -= dropped
        if !messages.isEmpty { state.toRooms[room] = messages }
    }

    /// Delivers commands to a room that is open here. If it closes meanwhile, the rest waits for the next search.
    private func deliver(to room: String, _ accept: (NodeMessage) -> Bool) {
        while cluster.isOpenHere(room) {
            // While the room has an entry, later commands queue behind these.
            let messages = state.withLock { state -> Deque<NodeMessage> in
                guard let messages = state.toRooms[room], !messages.isEmpty else {
                    state.toRooms[room] = nil
                    return []
                }
                state.toRooms[room] = []
                state.toRoomsCount -= messages.count
                return messages
            }
            if messages.isEmpty { return }
            for message in messages where !accept(message) { _ = relay(message) }
        }
    }

    func knownHome(of room: String, _ state: State) -> String? {
        guard let home = state.homes[room], home != cluster.local, cluster.isRunning(home) else { return nil }
        return home
    }
}
