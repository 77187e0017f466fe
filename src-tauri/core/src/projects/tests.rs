use chrono::TimeDelta;

use super::*;

fn now() -> DateTime<Utc> {
    DateTime::parse_from_rfc3339("2026-11-30T12:00:00Z").unwrap().to_utc()
}

fn project(folder: &str, id: &str) -> Project {
    Project {
        folder: folder.into(),
        name: name_of(Path::new(folder)),
        id: id.into(),
        root: "/code".into(),
        marks: Vec::new(),
        git_dir: None,
        branch: None,
        changed: None,
        session_at: None,
        active_at: None,
        agents: Agents::default(),
    }
}

fn session(folder: &str, project: &str, minutes: i64) -> Session {
    Session { folder: folder.into(), project: project.into(), at: now() - TimeDelta::minutes(minutes) }
}

#[test]
fn a_session_belongs_to_the_nearest_project_and_else_to_its_repository() {
    let mut projects = [
        project("/code/api", "/code/api"),
        project("/code/api/packages/a", "/code/api"),
        project("/code/linked", "/code/api"),
        project("/code/web", "/code/web"),
    ];
    let sessions = [
        session("/code/api/packages/a/src", "/code/api", 1),
        session("/code/api/docs", "/code/api", 9),
        session("/elsewhere/worktree", "/code/web", 5),
        session("/code/web", "/code/web", 7),
        session("/code/apiary", "/code/apiary", 2),
    ];
    with_sessions(&mut projects, &sessions, now());
    let ago = |project: &Project| project.session_at.map(|at| (now() - at).num_minutes());
    assert_eq!(projects.iter().map(ago).collect::<Vec<_>>(), [Some(9), Some(1), None, Some(5)]);
    sort(&mut projects);
    let names: Vec<&str> = projects.iter().map(|project| project.name.as_str()).collect();
    assert_eq!(names, ["a", "web", "api", "linked"]);
}

#[test]
fn agents_are_counted_by_state_and_a_clock_ahead_of_ours_is_not_believed() {
    let mut projects = [project("/code/api", "/code/api"), project("/code/web", "/code/web")];
    let agent = |folder: &str, state: State| Agent {
        state,
        ..Agent::starting("a", "a", Path::new(folder), "claude-code", now() + TimeDelta::hours(3))
    };
    let mut aside = agent("/code/web", State::Lost);
    aside.archived_at = Some(now());
    let agents = [
        agent("/code/api", State::Working),
        agent("/code/api/sub", State::NeedsYou),
        agent("/code/api", State::Ended),
        agent("/nowhere", State::Idle),
        aside,
    ];
    for _ in 0..2 {
        with_agents(&mut projects, &agents, now());
    }
    assert_eq!(projects[0].agents, Agents { needs_you: 1, working: 1, ..Agents::default() });
    assert_eq!((projects[0].agents.live(), projects[1].agents.live()), (2, 0));
    assert_eq!(projects[0].active_at, Some(now()));
}
