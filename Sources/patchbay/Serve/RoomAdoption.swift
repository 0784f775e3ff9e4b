import Backend
import Logging
import ServiceLifecycle
import Store
import Wire

/// Takes over the rooms of nodes that have ended, if no client asks for them.
///
/// Every node looks for them; the claim of a room decides which one takes it over. A room with a snapshot continues, and ends like any room
/// if nobody returns; the end of any other one is announced.
struct RoomAdoption: Service {
    let recovery: RoomRecovery
    let rooms: RoomService
    let running: @Sendable () -> [String]
    private let log = Logger(label: "patchbay.cluster")

    init(recovery: RoomRecovery, rooms: RoomService, running: @escaping @Sendable () -> [String]) {
        (self.recovery, self.rooms, self.running) = (recovery, rooms, running)
    }

    /// Longer than it takes to hear of all nodes.
    private static let interval = Duration.seconds(10)

    func run() async throws {
        await cancelWhenGracefulShutdown {
            while (try? await Task.sleep(for: Self.interval)) != nil {
                do {
                    try await adopt()
                } catch StoreError.unreachable {
                    // The store itself logs an outage.
                } catch {
                    log.error("what other nodes have left open is not taken over; it is tried again", metadata: ["error": "\(error)"])
                }
            }
        }
    }

    private func adopt() async throws {
        for open in try await recovery.openRooms(except: running()) {
            guard let claim = try? await rooms.claim(open.content.name), claim == .here, !rooms.roomIsOpen(named: open.content.name) else {
                continue
            }
            // Another node may be faster.
            do { try await recovery.end(open) } catch StoreError.superseded {}
        }
    }
}

extension RoomRecovery {
    /// Makes a room's session known, and this node the only one that writes about the room.
    ///
    /// - Returns: false if the store cannot be reached.
    func prepare(_ room: String, _ restored: RoomInfo?, _ log: Logger?) async -> Bool {
        guard room != RoomHomes.coordinatorRoom else {
            await takeCallsOver(log)
            return true
        }
        var isReached = true
        do {
            try await loadSession(of: room)
        } catch {
            isReached = false
            log?.error(
                restored == nil
                    ? "the store does not answer, so a new room is refused" : "the store does not answer, so a room may lack its session",
                metadata: ["room": "\(room)", "error": "\(error)"])
        }
        guard let restored else { return isReached }
        // Participants need not wait for the writes before it.
        Task {
            do {
                try await adopt(restored)
            } catch {
                log?.warning(
                    "the store does not know yet that a room is at home here", metadata: ["room": "\(room)", "error": "\(error)"])
            }
        }
        return isReached
    }

    /// Another node is the room's home.
    func forget(_ room: String, _ dispatch: DispatchInbox) {
        guard room == RoomHomes.coordinatorRoom else { return forgetSession(of: room) }
        leaveCalls()
        dispatch.post(.resign)
    }

    /// Tries until the store answers, or another node is the coordinator: one that did not know the calls would end them.
    private func takeCallsOver(_ log: Logger?) async {
        while coordinates {
            do {
                return try await continueCalls()
            } catch {
                log?.error(
                    "the store does not answer, so that calls and dispatch have to wait; it is tried again", metadata: ["error": "\(error)"]
                )
                try? await Task.sleep(for: .seconds(1))
            }
        }
    }
}
