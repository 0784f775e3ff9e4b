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
    /// The room of a session that another node has left waits for the store: without its session it would admit nobody and report no text.
    ///
    /// - Returns: false for a new room, if the store cannot be reached.
    func prepare(_ room: String, _ restored: RoomInfo?, _ log: Logger?) async -> Bool {
        guard room != RoomHomes.coordinatorRoom else {
            // A coordinator that did not know the calls would end them.
            await persist(room, "calls and dispatch wait for the store", log) { try await continueCalls() }
            return true
        }
        guard let restored else {
            do {
                try await loadSession(of: room)
                return true
            } catch {
                log?.error("the store does not answer, so a new room is refused", metadata: ["room": "\(room)", "error": "\(error)"])
                return false
            }
        }
        if Session.id(ofRoom: room) != nil {
            await persist(room, "a session's room waits for the store", log) { try await loadSession(of: room) }
        }
        // Participants need not wait for the writes before it.
        Task {
            do {
                try await adopt(restored)
            } catch {
                log?.warning(
                    "the store does not know yet that a room is at home here", metadata: ["room": "\(room)", "error": "\(error)"])
            }
        }
        return true
    }

    /// Another node is the room's home.
    func forget(_ room: String, _ dispatch: DispatchInbox) {
        guard room == RoomHomes.coordinatorRoom else { return forgetSession(of: room) }
        leaveCalls()
        dispatch.post(.resign)
    }

    /// Tries until the store answers, or another node is the room's home.
    private func persist(_ room: String, _ failure: Logger.Message, _ log: Logger?, _ body: () async throws -> Void) async {
        var isLogged = false
        while isHome(of: room) {
            do {
                return try await body()
            } catch {
                if !isLogged { log?.error(failure, metadata: ["room": "\(room)", "error": "\(error)"]) }
                isLogged = true
                try? await Task.sleep(for: .seconds(1))
            }
        }
    }
}
