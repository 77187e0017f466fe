use super::*;
use crate::config::Config;
use crate::life::clean::automatic::{automatic, news, sentence};

#[tokio::test]
async fn it_is_off_by_default_runs_once_a_day_tells_once_and_can_be_undone() {
    let mut world = World::new().await;
    let folder = world.repository("code/api").await;
    world.agent("api", &folder, State::Lost, None).await;
    world.agent("kept", &folder, State::Paused, None).await;
    let before = world.everything();
    let mut config = Config::default();
    automatic(&world.host, &config, &world.registry).await;
    same(&before, &world.everything());

    config.clean.automatic = true;
    automatic(&world.host, &config, &world.registry).await;
    same(&before, &world.everything());
    assert!(news(&world.host).unwrap().is_empty(), "gone for two days, and fourteen are wanted");

    config.clean.after_days = 1;
    automatic(&world.host, &config, &world.registry).await;
    same(&before, &world.everything());
    world.host.frozen = world.host.frozen.map(|now| now + TimeDelta::days(1));
    automatic(&world.host, &config, &world.registry).await;
    let told = news(&world.host).unwrap();
    assert_eq!(
        told.iter().map(|record| sentence(&world.host, record)).collect::<Vec<_>>(),
        ["cleaned up by itself on 2026-12-01: api"]
    );
    assert!(news(&world.host).unwrap().is_empty(), "told once");
    world.undo().await;
    same(&before, &world.everything());
}
