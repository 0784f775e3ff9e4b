import Testing

@testable import Gateway

/// Which shard a room is homed on while joins and openings race.
struct RoomDirectoryTests {
    private let directory = RoomDirectory()

    @Test func vacantNameIsClaimedOnce() {
        #expect(directory.claimVacant("r", for: 1) == 1 && directory.home(of: "r") == 1)
        #expect(directory.claimVacant("r", for: 2) == 1 && directory.claimVacant("r", for: 1) == 1)
        directory.release("r")
        #expect(directory.home(of: "r") == nil && directory.claimVacant("r", for: 2) == 2)
    }

    @Test func releasedClaimStaysWithItsHomeWhileAJoinIsOnItsWay() {
        _ = directory.claimVacant("r", for: 1)
        #expect(directory.claim("r", for: 2) == 1)
        directory.release("r")
        #expect(directory.home(of: "r") == nil)
        #expect(directory.claimVacant("r", for: 0) == 1, "the join will open the room there")
        #expect(directory.home(of: "r") == nil, "which an opening elsewhere does not do")
        #expect(directory.claimVacant("r", for: 1) == 1 && directory.home(of: "r") == 1)
        directory.arrived(in: "r")
        directory.release("r")
        #expect(directory.claimVacant("r", for: 0) == 0)
    }
}
