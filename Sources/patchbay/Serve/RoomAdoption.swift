import Backend
import Logging
import ServiceLifecycle
import Store
import Wire

/// Takes over what nodes of the cluster that have ended left open: rooms for which nobody asks, and calls.
///
/// Each node looks; the claim of a room decides which one takes it over. A room with a snapshot goes on, so that it ends as any room does
/// when nobody returns; the end of any other one is announced.
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
            try await ignoringSuperseded { try await recovery.end(open) }
        }
        for open in try await recovery.openCalls(except: running()) {
            try await ignoringSuperseded { try await recovery.end(open) }
        }
    }

    /// Another node was faster.
    private func ignoringSuperseded(_ body: () async throws -> Void) async throws {
        do { try await body() } catch StoreError.superseded {}
    }
}

extension RoomRecovery {
    /// Makes a room's session known, and this node the only one that writes about the room.
    func prepare(_ room: String, _ restored: RoomInfo?, _ log: Logger?) async {
        do {
            _ = try await loadSession(of: room)
            if let restored { try await adopt(restored) }
        } catch {
            log?.error(
                "the store does not answer, so a room may lack its session", metadata: ["room": "\(room)", "error": "\(error)"])
        }
    }
}
