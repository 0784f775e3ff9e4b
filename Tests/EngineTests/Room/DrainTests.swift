import Engine
import Testing
import Wire

struct DrainTests {
    @Test func everybodyIsToldThatTheGatewayWillStop() {
        var world = RoomWorld()
        let ann = world.join("ann")
        world.join("spy", permission: Permission(hidden: true))
        world.join("helper", kind: .agent)
        world.happens(.draining(deadline: 1_700_000_600))
        #expect(world.trace == ["serverDraining > ann spy helper"])
        #expect(world.news(ann).last == .serverDraining(deadline: 1_700_000_600))
    }

    @Test func anEmptyRoomHasNobodyToTell() {
        var world = RoomWorld()
        world.happens(.draining(deadline: 1_700_000_600))
        #expect(world.effects.isEmpty)
    }

    @Test func theRoomGoesOnMeanwhile() throws {
        var world = RoomWorld()
        let ann = world.join("ann")
        world.happens(.draining(deadline: 1_700_000_600))
        let track = try world.publish(ann)
        let bob = world.join("bob")
        #expect(world.hears(bob, track))
    }
}
