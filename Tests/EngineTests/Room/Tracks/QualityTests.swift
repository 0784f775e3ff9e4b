import Testing
import Wire

@testable import Engine

/// Connection quality by LiveKit's score.
struct QualityTests {
    @Test(arguments: [
        (0, 0, 0.0, 100.0), (20, 0, 0, 99.75), (320, 0, 0, 96), (340, 0, 0, 95), (520, 0, 0, 86), (0, 80, 0, 96), (0, 85, 0, 95),
        (0, 0, 2.5, 80), (0, 0, 7.5, 40), (0, 0, 12.5, 0), (0, 0, 100, 0), (9_000, 900, 50, 0), (-20, 0, 0, 100),
    ])
    func delayCostsLittleAndLossCostsMuch(roundTrip: Int, jitter: Int, loss: Double, score: Double) {
        let measurement = ConnectionMeasurement(
            roundTrip: .milliseconds(roundTrip), jitter: .milliseconds(jitter), lossPercent: loss, isSilent: false)
        #expect(abs(QualityScore.score(of: measurement) - score) < 1e-9)
    }

    @Test func scoreFallsFastAndRisesSlowly() {
        var quality = QualityScore()
        let steps = [ConnectionMeasurement.awful, .perfect, .perfect, .perfect].map { quality.update(with: $0) }
        #expect(steps == [.poor, .good, nil, .excellent])
    }

    @Test func lastingLossOfTwoAndAHalfPercentIsGood() {
        var quality = QualityScore()
        let lossy = ConnectionMeasurement(roundTrip: .milliseconds(20), jitter: .zero, lossPercent: 2.5, isSilent: false)
        let steps = (0..<4).map { _ in quality.update(with: lossy) }
        #expect(steps == [nil, nil, .good, nil])
    }

    @Test func scoreRecoversFromItsFloor() {
        var quality = QualityScore()
        for _ in 0..<10 { _ = quality.update(with: .awful) }
        #expect(quality.score == 30 && quality.level == .poor)
        let better = quality.update(with: .perfect)
        #expect(better == .good && abs(quality.score - 57.9) < 1e-9)
    }

    @Test func silentConnectionIsLostAtOnce() {
        var quality = QualityScore()
        let silent = ConnectionMeasurement(roundTrip: .zero, jitter: .zero, lossPercent: 0, isSilent: true)
        let steps = [silent, silent, .perfect].map { quality.update(with: $0) }
        #expect(steps == [.lost, nil, .good])
    }

    @Test func onlyLevelChangesAreReported() {
        var world = RoomWorld()
        let ann = world.join("ann")
        let bob = world.join("bob")
        world.receive(.connectionMeasured(ann, .perfect))
        #expect(world.effects.isEmpty)
        world.receive(.connectionMeasured(ann, .awful))
        #expect(world.trace == ["qualityChanged > ann bob"])
        #expect(world.takeEvents(bob).last == .qualityChanged("ann", .poor))
        world.receive(.connectionMeasured(ann, .awful))
        #expect(world.effects.isEmpty)
    }

    @Test func operatorsSeeTheWorstConnectionFirst() {
        var world = RoomWorld(RoomSettings(resumeWindow: .seconds(20)))
        let (ann, bob, eve) = (world.join("ann"), world.join("bob"), world.join("eve"))
        world.join("new")
        world.receive(.connectionMeasured(ann, .perfect))
        world.receive(.connectionMeasured(bob, .awful))
        let slow = ConnectionMeasurement(roundTrip: .milliseconds(90), jitter: .zero, lossPercent: 0, isSilent: false)
        world.receive(.connectionMeasured(eve, slow))
        func order() -> [Identity] { world.room.connections.sorted { $0.isWorse(than: $1) }.map(\.identity) }
        #expect(order() == ["bob", "eve", "ann", "new"])
        #expect(world.room.connections.map(\.measurement) == [.perfect, .awful, slow, nil])
        #expect(world.room.connections.map(\.quality) == [.excellent, .poor, .excellent, .excellent])
        world.receive(.connectionLost(ann, .signalClose))
        world.pass(.seconds(1))
        world.receive(.connectionLost(eve, .signalClose))
        #expect(order() == ["ann", "eve", "bob", "new"], "the one whose connection has been lost for longest is first")
    }

    @Test func qualityOfAHiddenParticipantIsSentOnlyToItself() {
        var world = RoomWorld()
        world.join("ann")
        let spy = world.join("spy", permission: Permission(hidden: true))
        world.receive(.connectionMeasured(spy, .awful))
        #expect(world.trace == ["qualityChanged > spy"])
    }
}
